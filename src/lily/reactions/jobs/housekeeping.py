"""Lily's own recurring jobs: they remove what has served its purpose. A finished job is gone at once and needs none."""

from datetime import timedelta
from typing import Any

import structlog
from psycopg import Connection

from lily.reactions.jobs.base import Task
from lily.store.postgres.access.tickets import delete_expired_tickets
from lily.store.postgres.enforcement.ledger import delete_old_runs
from lily.store.postgres.jobs.queue import Job
from lily.store.postgres.outbox.batches import delete_published
from lily.store.postgres.policies.decision_log import delete_old_decisions

EVERY = timedelta(hours=1)

_log = structlog.get_logger()


def _delete_published_batches(connection: Connection[Any], _: Job) -> None:
    _log.info("published batches deleted", count=delete_published(connection))


def _delete_expired_tickets(connection: Connection[Any], _: Job) -> None:
    _log.info("expired tickets deleted", count=delete_expired_tickets(connection))


def _delete_old_decisions(connection: Connection[Any], _: Job) -> None:
    _log.info("old decisions deleted", count=delete_old_decisions(connection))


def _delete_old_runs(connection: Connection[Any], _: Job) -> None:
    _log.info("old runs of targets deleted", count=delete_old_runs(connection))


HOUSEKEEPING = (
    Task("forget-published-batches", _delete_published_batches, every=EVERY),
    Task("forget-expired-tickets", _delete_expired_tickets, every=EVERY),
    Task("forget-old-decisions", _delete_old_decisions, every=EVERY),
    Task("forget-old-enforcement-runs", _delete_old_runs, every=EVERY),
)
