"""The reaction `notifications`: matches events with subscriptions, and queues what is to be delivered.

It waits for no receiver: notifications, deliveries and jobs are written in one transaction, and the worker's jobs do
the rest.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import orjson
from psycopg import Connection

from lily.bus import topics
from lily.notify.events import Occurrence, read_announcement, read_change
from lily.reactions.base import Event
from lily.reactions.notifications.planning import group_deliveries, jobs_of, plan
from lily.store.postgres.jobs.queue import enqueue
from lily.store.postgres.notifications.ledger import NotificationLedger
from lily.store.postgres.notifications.subjects import with_facts
from lily.store.postgres.subscriptions.configuration import (
    NOTHING,
    Configuration,
    read_configuration,
    read_version,
)
from lily.store.postgres.worker_reads import WorkerReads, completed

AT_ONCE = 500  # events that are matched together
MAX_TENANTS = 1_000  # whose subscriptions are kept


class Notifications:
    """A reaction. It reads what is announced, and of the changes of assets those that a subscription names."""

    name = "notifications"
    topics = (topics.NOTIFICATIONS, topics.SUBSCRIBED)

    def __init__(self) -> None:
        self._connection: Connection[Any] | None = None
        self._kept: OrderedDict[str, tuple[int, Configuration]] = OrderedDict()

    def open(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def handle(self, tenant: str, events: Sequence[Event]) -> None:
        configuration = self._configuration(tenant)
        for some in _batched(_occurrences(events), AT_ONCE):
            self._notify(tenant, configuration, some)

    def _notify(self, tenant: str, configuration: Configuration, occurrences: Sequence[Occurrence]) -> None:
        assert self._connection is not None  # noqa: S101 - the runner opens a reaction before it handles anything
        reads, ledger = WorkerReads(self._connection), NotificationLedger(self._connection, tenant)
        if configuration.subscriptions or configuration.mutes:
            occurrences = completed(with_facts(reads, tenant, occurrences, configuration))
        planned = plan(tenant, configuration, occurrences, datetime.now(UTC))
        new = ledger.insert_notifications([one.notification for one in planned])
        wanted = [one for plan in planned if plan.notification.id in new for one in plan.deliveries]
        leads = ledger.open_leads({(one.subscription, one.target) for one in wanted if one.is_lead})
        deliveries = group_deliveries(wanted, leads)
        ledger.insert_deliveries(deliveries)
        if jobs := jobs_of(deliveries):
            enqueue(self._connection, tenant, *jobs)

    def _configuration(self, tenant: str) -> Configuration:
        """As of the snapshot of this transaction: kept until its version changes."""
        assert self._connection is not None  # noqa: S101
        reads = WorkerReads(self._connection)
        version = completed(read_version(reads, tenant))
        if not version:
            return NOTHING
        kept = self._kept.pop(tenant, None)
        if kept is None or kept[0] != version:
            kept = (version, completed(read_configuration(reads, tenant)))
        self._kept[tenant] = kept
        if len(self._kept) > MAX_TENANTS:
            self._kept.popitem(last=False)
        return kept[1]


def _occurrences(events: Iterable[Event]) -> Iterable[Occurrence]:
    """Each once: the relay publishes again what it had published when it was killed."""
    seen: set[str] = set()
    for event in events:
        record = orjson.loads(event.value)
        found = read_change(record) if event.topic == topics.SUBSCRIBED else read_announcement(record)
        if found is not None and found.event_id not in seen:
            seen.add(found.event_id)
            yield found


def _batched(occurrences: Iterable[Occurrence], size: int) -> Iterable[Sequence[Occurrence]]:
    waiting = iter(occurrences)
    while some := list(islice(waiting, size)):
        yield some
