"""The relay: publishes every committed change to the change log, and every refused record to the dead letters.

Changes of assets and edges, what propagation reached and what administrators decided each have a topic of their own.
What rules state goes to the ingestion topic, like a write of the API.

It publishes whole batches and marks them once Kafka has confirmed every event, so a crash repeats events and never
loses one. A change's event id follows from its position, so consumers can drop the repeats. Apart from repeats, the
changes of an asset are published in order.
"""

import os
import threading
import time
from collections import Counter as Tally

import psycopg
import structlog
from confluent_kafka import KafkaError, Message, Producer
from prometheus_client import CollectorRegistry, Counter, Histogram

from lily.bus.authority import SigningKeys, sign
from lily.model.errors import Transient
from lily.reactions.pace import Pace
from lily.reactions.relay.routing import Outgoing, outgoing
from lily.reactions.relay.topic_ends import TopicEnds
from lily.settings import Settings
from lily.store.postgres.access.secrets import read_master_keys
from lily.store.postgres.outbox.batches import Outbox

BATCHES_AT_ONCE = 4  # bounds memory: a batch may hold tens of thousands of changes
_FLUSH_SECONDS = 30
_log = structlog.get_logger()


class Relay:
    """A resident of the worker. It reconnects by itself; while the relay of another worker publishes, it stands by."""

    name = "relay"

    def __init__(self, settings: Settings, stop: threading.Event, registry: CollectorRegistry) -> None:
        self._settings, self._stop = settings, stop
        self.ready = threading.Event()
        self._failed: list[KafkaError] = []
        self._producer = Producer(
            {
                **settings.brokers.client(),
                "enable.idempotence": True,
                "acks": "all",
                "message.timeout.ms": 0,  # none: an event that expires would be published after newer ones of its asset
                "linger.ms": 5,
                "delivery.report.only.error": True,  # flush reports that all is delivered, so silence is success
                "compression.type": "lz4",
                "message.max.bytes": 4 << 20,
                "queue.buffering.max.messages": 100_000,
                "queue.buffering.max.kbytes": 128 * 1024,
                "partitioner": "murmur2_random",
            }
        )
        self._ends = TopicEnds(settings.brokers)
        self._keys = SigningKeys(settings.master_key_file, read_master_keys)
        self._published = Counter("lily_relay_published", "Events published", ["topic"], registry=registry)
        self._lag = Histogram("lily_relay_lag_seconds", "From committed to published", registry=registry)

    def run(self) -> None:
        """Returns when `stop` is set."""
        os.nice(5)  # of this thread: when the machine is full, the catalogue comes first and the change log catches up
        while not self._stop.is_set():
            try:
                self._serve(Outbox(self._settings.database_url))
            except (psycopg.OperationalError, Transient) as error:
                self.ready.clear()
                _log.warning("relay interrupted, connecting again", error=str(error)[:500])
                self._stop.wait(1)
        self._producer.flush(_FLUSH_SECONDS)
        self._ends.close()

    def _serve(self, outbox: Outbox) -> None:
        self.ready.set()
        pace = Pace(self._stop)
        try:
            while not self._stop.is_set() and not outbox.try_lock():
                self._stop.wait(2)
            while not self._stop.is_set():
                pace.begun()
                published = self.publish(outbox)
                if not published:
                    outbox.wait(1)
                elif published < BATCHES_AT_ONCE:
                    pace.rest()
        finally:
            outbox.close()

    def publish(self, outbox: Outbox) -> int:
        """Publishes what is unpublished, marks it, and returns how many batches that were. Raises Transient if Kafka
        did not confirm all of it: then nothing is marked, and a later call repeats the batches, once Kafka has
        confirmed the events that are still on their way."""
        self._require_confirmed()
        batches = outbox.unpublished(BATCHES_AT_ONCE)
        if not batches:
            return 0
        oldest = None
        sent: Tally[str] = Tally()
        for event in outgoing(outbox, batches):
            oldest = oldest or event.committed_at
            self._produce(event)
            sent[event.topic] += 1
        self._require_confirmed()
        outbox.mark_published(batches, self._ends.after(sent.keys()))
        for topic, count in sent.items():
            self._published.labels(topic).inc(count)
        if oldest is not None:
            self._lag.observe(time.time() - oldest.timestamp())
        return len(batches)

    def _require_confirmed(self) -> None:
        if self._producer.flush(_FLUSH_SECONDS) or self._failed:
            failed, self._failed = self._failed, []
            raise Transient(f"Kafka did not confirm {len(failed) or 'all'} events: {failed[:1]}")

    def _produce(self, event: Outgoing) -> None:
        value = sign(event.value, self._keys()) if event.authorised else event.value
        while True:
            try:
                self._producer.produce(event.topic, value, event.key, on_delivery=self._delivered)
                break
            except BufferError:
                if self._stop.is_set():
                    raise Transient("The relay was stopped while Kafka took no events.") from None
                self._producer.poll(0.1)

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._failed.append(error)
