"""The relay: every committed change leaves for the change log, every refused record for the dead letters.

It publishes whole batches and marks them when Kafka has confirmed every event, so a crash repeats events and never
loses one. A change's event id follows from its position, so consumers can drop the repeats.
"""

import base64
import gc
import os
import threading
import time
from typing import Any

import orjson
import psycopg
import structlog
from confluent_kafka import KafkaError, Message, Producer
from prometheus_client import CollectorRegistry, Counter, Histogram

from lily.bus import topics
from lily.model import changes
from lily.model.clock import stamp
from lily.model.envelopes import SOURCE, SPEC_VERSION
from lily.model.errors import Transient
from lily.model.events import ASSET_CHANGED
from lily.observe.probes import serve_probes
from lily.settings import Settings
from lily.store.postgres.outbox import Change, Outbox

BATCHES_AT_ONCE = 4  # bounds memory: a batch may hold tens of thousands of changes
MAX_EVENT_BYTES = 3 << 20  # the topics take 5 MiB, the producer sends 4, and a batch has an envelope of its own
_FLUSH_SECONDS = 30
_log = structlog.get_logger()


class Relay:
    """Runs until `stop` is set. It reconnects by itself; while another relay has the turn, this one waits for it."""

    def __init__(self, settings: Settings, stop: threading.Event) -> None:
        self._settings, self._stop = settings, stop
        self._ready = threading.Event()
        self._failed: list[KafkaError] = []
        self._producer = Producer(
            {
                "bootstrap.servers": settings.kafka_bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "delivery.report.only.error": True,  # flush tells that all is delivered, so silence is success
                "compression.type": "lz4",
                "message.max.bytes": 4 << 20,
                "queue.buffering.max.messages": 100_000,
                "partitioner": "murmur2_random",
                "log_level": 2,
            }
        )
        self.registry = CollectorRegistry()
        self._published = Counter("lily_relay_published", "Events published", ["topic"], registry=self.registry)
        self._lag = Histogram("lily_relay_lag_seconds", "From committed to published", registry=self.registry)

    def run(self) -> None:
        os.nice(5)  # when the machine is full, the catalogue comes first and the change log catches up
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)  # a batch is tens of thousands of objects, and none of them a cycle
        if self._settings.metrics_port:
            serve_probes(self._settings.host, self._settings.metrics_port, self.registry, self._ready.is_set)
        while not self._stop.is_set():
            try:
                self._serve(Outbox(self._settings.database_url))
            except (psycopg.OperationalError, Transient) as error:
                self._ready.clear()
                _log.warning("relay interrupted, connecting again", error=str(error)[:500])
                self._stop.wait(1)
        self._producer.flush(_FLUSH_SECONDS)

    def _serve(self, outbox: Outbox) -> None:
        self._ready.set()
        try:
            while not self._stop.is_set() and not outbox.take_turn():
                self._stop.wait(2)
            swept = time.monotonic()
            while not self._stop.is_set():
                if not self.publish(outbox):
                    outbox.wait(1)
                if time.monotonic() - swept > 3600:
                    outbox.forget_published()
                    swept = time.monotonic()
        finally:
            outbox.close()

    def publish(self, outbox: Outbox) -> int:
        """Publishes what is unpublished, marks it, and answers how many batches that were. Raises Transient if Kafka
        did not confirm all of it: then nothing is marked and the next call repeats the batches."""
        batches = outbox.unpublished(BATCHES_AT_ONCE)
        if not batches:
            return 0
        oldest = None
        for change in outbox.changes(batches):
            oldest = oldest or change.committed_at
            self._produce(topics.METADATA, change.tenant_id, change.asset_id, change_event(change))
        for letter in outbox.dead_letters(batches):
            self._produce(topics.DEAD_LETTERS, letter["tenant_id"], letter["topic"], dead_letter_event(letter))
        if self._producer.flush(_FLUSH_SECONDS) or self._failed:
            failed, self._failed = self._failed, []
            raise Transient(f"Kafka did not confirm {len(failed) or 'all'} events: {failed[:1]}")
        outbox.mark_published(batches)
        if oldest is not None:
            self._lag.observe(time.time() - oldest.timestamp())
        return len(batches)

    def _produce(self, topic: str, tenant: str, entity: str, event: dict[str, Any]) -> None:
        value = _sendable(event)
        while True:
            try:
                self._producer.produce(topic, value, topics.key_of(tenant, entity), on_delivery=self._delivered)
                break
            except BufferError:
                self._producer.poll(0.1)
        self._published.labels(topic).inc()

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._failed.append(error)


def change_event(change: Change) -> dict[str, Any]:
    event: dict[str, Any] = {
        "specversion": SPEC_VERSION,
        "id": f"change-{change.position}",
        "source": SOURCE,
        "type": ASSET_CHANGED,
        "time": stamp(change.committed_at),
        "tenantid": change.tenant_id,
        "subject": change.asset_id,
        "datacontenttype": "application/json",
        "data": {
            "metadata_id": change.asset_id,
            "entity_type": change.entity_type,
            "qualified_name": change.qualified_name,
            "layer": change.layer,
            "version": change.version,
            "change": changes.kind(change.before, change.after),
            "changed": changes.differences(change.before, change.after),
            "tags": changes.tag_changes(change.before, change.after),
            "causes": change.causes,
            "position": change.position,
        },
    }
    newest = change.causes[-1] if change.causes else {}
    if "correlation" in newest:
        event["correlationid"] = newest["correlation"]
    if "trace" in newest:
        event["traceparent"] = newest["trace"]
    return event


def _sendable(event: dict[str, Any]) -> bytes:
    """The event as bytes that Kafka takes. One that is too large says what changed and not how: the history has it."""
    value = orjson.dumps(event)
    if len(value) <= MAX_EVENT_BYTES:
        return value
    data: dict[str, Any] = event["data"] | {"truncated": True}
    if "changed" in data:
        data["changed"] = dict.fromkeys(data["changed"], None)
    if "original_base64" in data:
        data["original_base64"] = None
    return orjson.dumps(event | {"data": data})


def dead_letter_event(letter: dict[str, Any]) -> dict[str, Any]:
    """The cause, the original bytes and where they came from."""
    return {
        "specversion": SPEC_VERSION,
        "id": f"dead-letter-{letter['id']}",
        "source": SOURCE,
        "type": "lily.event.refused",
        "time": stamp(letter["refused_at"]),
        "tenantid": letter["tenant_id"],
        "datacontenttype": "application/json",
        "data": {
            "errors": letter["errors"],
            "topic": letter["topic"],
            "partition": letter["partition"],
            "offset": letter["offset"],
            "key_base64": _encoded(letter["key"]),
            "original_base64": _encoded(letter["original"]),
        },
    }


def _encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()
