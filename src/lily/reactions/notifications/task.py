"""The job `deliver`: sends notifications to one destination and records what became of each.

What was delivered is committed even if others fail: the job then runs again for the rest (`Later`), and its group, the
destination, waits. A failure pauses the destination for longer and longer; after a pause a single message probes it,
after some failures another one: what makes one receiver fail may be one message.
Other destinations are other groups, and notice nothing.
"""

from collections.abc import Sequence
from typing import Any

from prometheus_client import CollectorRegistry
from psycopg import Connection

from lily.model.errors import Terminal
from lily.reactions.event_loop import EventLoop
from lily.reactions.notifications.batch import Batch
from lily.reactions.notifications.channels import ChannelPool
from lily.reactions.notifications.messages import Composer, Message
from lily.reactions.notifications.metrics import DeliveryMetrics
from lily.reactions.notifications.sending import send
from lily.settings import Settings
from lily.store.postgres.deliveries.ledger import DeliveryLedger, StoredChannel, Taken, Target
from lily.store.postgres.jobs.queue import Job, Later


class Delivering:
    """The task's function and what it needs."""

    def __init__(self, settings: Settings, registry: CollectorRegistry, pool: ChannelPool, loop: EventLoop) -> None:
        self._settings, self._pool, self._loop = settings, pool, loop
        self._metrics = DeliveryMetrics(registry)

    def run(self, connection: Connection[Any], job: Job) -> Later | None:
        """Raises what Lily's own store raises."""
        target = Target(*(str(job.arguments[name]) for name in Target._fields))
        ledger = DeliveryLedger(connection, job.tenant, target)
        taken = ledger.take(job.arguments["deliveries"], job.enqueued_at)
        if not taken:
            return None
        pace, gone, now = ledger.pace()
        if (pause := pace.pause(now)) > 0:
            return Later(pause, pace.error)
        if pace.is_doubted:
            taken = _beginning_with_probe(ledger, job, taken)
        stored = ledger.channel()
        batch = Batch(ledger, job, self._metrics, pace, now, stored and stored.per_second)
        batch.suppress([one for one in taken if not one.enabled])
        wanted = [one for one in taken if one.enabled]
        batch.gone = gone
        try:
            waiting = self._deliver(ledger, batch, _usable(target, stored, gone=gone), wanted, job.tenant, target)
        except Terminal as error:
            batch.refuse(wanted, error)
            return batch.close(waits=False)
        if batch.gone:
            batch.refuse([one for message in waiting for one in message.deliveries], _gone(target.channel))
        return batch.close(waits=bool(waiting) and not batch.gone)

    def _deliver(  # noqa: PLR0917 - what is sent, how and where
        self,
        ledger: DeliveryLedger,
        batch: Batch,
        stored: StoredChannel,
        wanted: Sequence[Taken],
        tenant: str,
        target: Target,
    ) -> list[Message]:
        """Sends what the destination permits; returns what is still to be sent. Raises Terminal before anything is sent
        if there is no channel to send it with."""
        channel = self._pool.get(tenant, target.channel, stored)
        composer = Composer(tenant, stored, self._settings.link_url, ledger.handles())
        waiting = composer.messages(wanted)
        threads = ledger.previous({one.thread for one in waiting if one.has_thread})
        while waiting and not batch.stopped and (room := batch.room(len(waiting))):
            some, waiting = waiting[:room], waiting[room:]
            sent = self._loop.run(send(channel, target.destination, some, threads))
            for one in sent:
                if one.receiver:
                    threads.setdefault(one.message.thread, one.receiver)
            waiting = batch.record(some, sent) + waiting
        return waiting


def _beginning_with_probe(ledger: DeliveryLedger, job: Job, taken: list[Taken]) -> list[Taken]:
    """The delivery that was tried least comes first, also if it belongs to a later job, which does not take it once
    settled."""
    probe = ledger.probe(job.group)
    if probe is None:
        return taken
    found = [one for one in taken if probe in {one.id, one.lead}] or ledger.take([probe], job.enqueued_at)
    ids = {one.id for one in found}
    return found + [one for one in taken if one.id not in ids]


def _usable(target: Target, stored: StoredChannel | None, *, gone: bool) -> StoredChannel:
    if stored is None:
        raise Terminal(f"the channel {target.channel} was removed; add it again with POST /channels")
    if gone:
        raise _gone(stored.name)
    return stored


def _gone(channel: str) -> Terminal:
    remedy = f"once it does again, send a test with POST /channels/{channel}/test and replay the dead letters"
    return Terminal(f"the receiver wants no more notifications (410); {remedy}")
