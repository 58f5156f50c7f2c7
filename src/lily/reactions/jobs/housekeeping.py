"""Lily's own recurring jobs: they remove what has served its purpose. A finished job is gone at once and needs none."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter
from psycopg import Connection

from lily.reactions.jobs.base import Task
from lily.settings import Retention
from lily.store.postgres.access.tickets import delete_expired_tickets
from lily.store.postgres.audit.pruning import prune_audit
from lily.store.postgres.enforcement.ledger import delete_old_runs
from lily.store.postgres.incidents.retention import delete_old_history as delete_old_incident_history
from lily.store.postgres.jobs.queue import Job, Later
from lily.store.postgres.notifications.ledger import delete_old_notifications
from lily.store.postgres.outbox.batches import delete_published
from lily.store.postgres.policies.decision_log import delete_old_decisions
from lily.store.postgres.policies.decision_state import delete_old_fact_changes
from lily.store.postgres.policies.history import delete_old_history
from lily.store.postgres.propagation.history import delete_old_tag_history
from lily.store.postgres.refreshes.refresher import delete_old_runs as delete_old_refresh_runs
from lily.store.postgres.retention.sweeps import START, Place, Table, sweep
from lily.store.postgres.usage.counts import delete_old_usage

EVERY = timedelta(hours=1)
EVERY_DAY = timedelta(days=1)  # each deletion of audit entries is an entry itself
PUBLISHED = timedelta(days=1)  # as long as batches that were published

_log = structlog.get_logger()


class Housekeeping:
    """Makes the tasks. The names of tasks are stored with their schedules, so they stay."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._deleted = Counter(
            "lily_housekeeping_deleted", "Rows that were deleted by age, by task", ["task"], registry=registry
        )

    def task(self, name: str, delete: Callable[[Connection[Any]], int], every: timedelta = EVERY) -> Task:
        """Deletes in one transaction."""
        counter = self._deleted.labels(name)

        def run(connection: Connection[Any], _: Job) -> None:
            deleted = delete(connection)
            counter.inc(deleted)
            _log.info("housekeeping", task=name, deleted=deleted)

        return Task(name, run, every=every)

    def sweep(self, name: str, table: Table, keep: timedelta) -> Task:
        """Deletes in many transactions. Between two of them the jobs of others have their turn."""
        counter = self._deleted.labels(name)
        # Of the job in hand. If another worker goes on with it, that one begins at the start, which is only slower.
        places: dict[int, Place] = {}

        def run(connection: Connection[Any], job: Job) -> Later | None:
            step = sweep(connection, table, keep, places.pop(job.id, START))
            counter.inc(step.deleted)
            places.clear()
            if step.next is None:
                return None
            places[job.id] = step.next
            return Later(0, "more is old enough to be deleted")

        return Task(name, run, every=EVERY)


def housekeeping(retention: Retention, registry: CollectorRegistry | None = None) -> tuple[Task, ...]:
    decisions, history = timedelta(days=retention.decision_days), timedelta(days=retention.policy_history_days)
    notifications, incidents = timedelta(days=retention.notification_days), timedelta(days=retention.incident_days)
    changes = timedelta(days=retention.change_days)
    audit = timedelta(days=retention.audit_days) if retention.audit_days else None
    make = Housekeeping(registry or CollectorRegistry())
    return (
        make.task("forget-published-batches", delete_published),
        make.task("forget-expired-tickets", delete_expired_tickets),
        make.task("forget-old-decisions", lambda connection: delete_old_decisions(connection, decisions)),
        make.task("forget-old-policies", lambda connection: delete_old_history(connection, history)),
        make.task("forget-old-tag-history", lambda connection: delete_old_tag_history(connection, history)),
        make.task("forget-old-enforcement-runs", delete_old_runs),
        make.task("forget-old-fact-changes", delete_old_fact_changes),
        make.task("forget-old-notifications", lambda connection: delete_old_notifications(connection, notifications)),
        make.task("forget-old-incident-history", lambda connection: delete_old_incident_history(connection, incidents)),
        make.task("forget-old-usage", delete_old_usage),
        make.task("forget-old-refresh-runs", delete_old_refresh_runs),
        make.task("forget-old-audit", lambda connection: prune_audit(connection, audit), EVERY_DAY),
        make.sweep("forget-old-changes", "changes", changes),
        make.sweep("forget-old-edge-changes", "edge_changes", changes),
        make.sweep("forget-propagated-tags", "propagated", PUBLISHED),
        make.sweep("forget-announced-decisions", "decisions", changes),
        make.sweep("forget-old-propagations", "propagations", timedelta(days=retention.propagation_days)),
        make.sweep("forget-old-dead-letters", "dead_letters", timedelta(days=retention.dead_letter_days)),
        make.sweep("forget-old-lake-batches", "lake_batches", timedelta(days=retention.lake_batch_days)),
        make.sweep("forget-old-incidents", "incidents", incidents),
    )
