"""Lily's own recurring jobs: they remove what has served its purpose. A finished job is gone at once and needs none."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from psycopg import Connection

from lily.reactions.jobs.base import Task
from lily.settings import Retention
from lily.store.postgres.access.tickets import delete_expired_tickets
from lily.store.postgres.audit.pruning import prune_audit
from lily.store.postgres.enforcement.ledger import delete_old_runs
from lily.store.postgres.incidents.retention import delete_old_history as delete_old_incident_history
from lily.store.postgres.jobs.queue import Job
from lily.store.postgres.notifications.ledger import delete_old_notifications
from lily.store.postgres.outbox.batches import delete_published
from lily.store.postgres.policies.decision_log import delete_old_decisions
from lily.store.postgres.policies.decision_state import delete_old_fact_changes
from lily.store.postgres.policies.history import delete_old_history
from lily.store.postgres.propagation.history import delete_old_tag_history
from lily.store.postgres.refreshes.refresher import delete_old_runs as delete_old_refresh_runs
from lily.store.postgres.usage.counts import delete_old_usage

EVERY = timedelta(hours=1)
EVERY_DAY = timedelta(days=1)  # each deletion of audit entries is an entry itself

_log = structlog.get_logger()


def housekeeping(retention: Retention) -> tuple[Task, ...]:
    """The names of tasks are stored with their schedules, so they stay."""
    decisions, history = timedelta(days=retention.decision_days), timedelta(days=retention.policy_history_days)
    notifications, incidents = timedelta(days=retention.notification_days), timedelta(days=retention.incident_days)
    audit = timedelta(days=retention.audit_days) if retention.audit_days else None
    return (
        _task("forget-published-batches", delete_published),
        _task("forget-expired-tickets", delete_expired_tickets),
        _task("forget-old-decisions", lambda connection: delete_old_decisions(connection, decisions)),
        _task("forget-old-policies", lambda connection: delete_old_history(connection, history)),
        _task("forget-old-tag-history", lambda connection: delete_old_tag_history(connection, history)),
        _task("forget-old-enforcement-runs", delete_old_runs),
        _task("forget-old-fact-changes", delete_old_fact_changes),
        _task("forget-old-notifications", lambda connection: delete_old_notifications(connection, notifications)),
        _task("forget-old-incident-history", lambda connection: delete_old_incident_history(connection, incidents)),
        _task("forget-old-usage", delete_old_usage),
        _task("forget-old-refresh-runs", delete_old_refresh_runs),
        _task("forget-old-audit", lambda connection: prune_audit(connection, audit), EVERY_DAY),
    )


def _task(name: str, delete: Callable[[Connection[Any]], int], every: timedelta = EVERY) -> Task:
    def run(connection: Connection[Any], _: Job) -> None:
        _log.info("housekeeping", task=name, deleted=delete(connection))

    return Task(name, run, every=every)
