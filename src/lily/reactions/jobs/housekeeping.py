"""Lily's own recurring jobs: they remove what has served its purpose. A finished job is gone at once and needs none."""

from datetime import timedelta
from typing import Any

import structlog
from psycopg import Connection

from lily.reactions.jobs.base import Task
from lily.store.postgres.access.tickets import forget_expired_tickets
from lily.store.postgres.jobs.queue import Job
from lily.store.postgres.outbox.batches import forget_published

EVERY = timedelta(hours=1)

_log = structlog.get_logger()


def _forget_published_batches(connection: Connection[Any], _: Job) -> None:
    _log.info("published batches forgotten", count=forget_published(connection))


def _forget_expired_tickets(connection: Connection[Any], _: Job) -> None:
    _log.info("expired tickets forgotten", count=forget_expired_tickets(connection))


HOUSEKEEPING = (
    Task("forget-published-batches", _forget_published_batches, every=EVERY),
    Task("forget-expired-tickets", _forget_expired_tickets, every=EVERY),
)
