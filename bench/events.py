"""The load: full restatements of assets, about 550 bytes each, built ahead so that sending them costs next to nothing.

The model itself writes one event with marks in it. What differs from asset to asset is filled in ahead; what differs
from event to event (id, time, and a number in the description, so that every event is a real change) when it is sent.
"""

import random
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Producer

from lily.bus.topics import ASSETS, key_of
from lily.model import clock
from lily.model.events import AssetEvent
from lily.model.ids import asset_id
from lily.model.statements import read_statement

TENANT = "default"
SCHEMAS = 97
OWNER, SOURCE = "alice", "warehouse"
ABOUT = "One row an order as the shop took it, by hour. Revision {}."
CHUNK = 50  # events that share one time; their ids tell them apart
_ID, _TIME, _NAME, _PARENT, _SERIAL = "@id@", "2000-01-01T00:00:00.000000Z", "@name@", "@parent@", "@serial@"
_SAME = b"0" * 16  # the number of an event that changes nothing


class Asset(NamedTuple):
    id: str
    qualified_name: str
    name: str
    parent: str


def asset(number: int, kind: str = "orders", tenant: str = TENANT) -> Asset:
    parent, name = f"warehouse.shop_{number % SCHEMAS}", f"{kind}_{number}"
    return Asset(asset_id(tenant, f"{parent}.{name}"), f"{parent}.{name}", name, parent)


def statement(of: Asset, serial: int | str) -> dict[str, object]:
    """What a source says about it: the body of a POST, which the model reads as well."""
    attributes = {
        "name": of.name,
        "qualified_name": of.qualified_name,
        "description": ABOUT.format(serial),
        "owner": OWNER,
        "data_source": SOURCE,
        "parent": of.parent,
    }
    return {"entity_type": "table", "attributes": attributes}


class Template:
    """An event in four pieces: up to its id, up to its time, up to the serial number, the rest; `%s` for the names."""

    def __init__(self, stated: Callable[[Asset, int | str], dict[str, object]]) -> None:
        marked = read_statement(stated(Asset("", f"{_PARENT}.{_NAME}", _NAME, _PARENT), _SERIAL), tenant=TENANT)
        event = AssetEvent(_ID, _TIME, TENANT, marked)
        text = orjson.dumps(event.as_cloudevent()).decode()
        before_id, rest = text.split(_ID)
        before_time, rest = rest.split(_TIME)
        before_serial, after_serial = rest.split(_SERIAL)
        for mark, field in ((event.asset_id, "id"), (_PARENT, "parent"), (_NAME, "name")):
            before_serial = before_serial.replace(mark, f"%({field})s")
            after_serial = after_serial.replace(mark, f"%({field})s")
        self.before_id, self.before_time = before_id.encode(), before_time.encode()
        self._before_serial, self._after_serial = before_serial.encode(), after_serial.encode()

    def pieces(self, of: Asset) -> tuple[bytes, bytes, bytes]:
        """The key, and what stands before and after the serial number."""
        names = {b"id": of.id.encode(), b"parent": of.parent.encode(), b"name": of.name.encode()}
        return key_of(TENANT, of.id), self._before_serial % names, self._after_serial % names


TABLES = Template(statement)


class Payloads:
    """Events about some assets, in the order given, again and again.

    `changed` is the share of the assets whose events are changes, each with a number of its own. The others are stated
    with the same number every time, as a source that is read again states what has not changed."""

    def __init__(self, assets: Iterable[Asset], template: Template = TABLES, changed: float = 1.0) -> None:
        self._template = template
        self._pieces = [(*template.pieces(of), _changes(of, changed)) for of in assets]
        self._next = 0
        self._serial = time.time_ns() // 1000  # later runs go on where earlier ones cannot have come

    def __len__(self) -> int:
        return len(self._pieces)

    def take(self, count: int) -> Iterator[tuple[bytes, bytes]]:
        """Key and value of so many events, made as of now."""
        made, before_id, before_time = clock.now().encode(), self._template.before_id, self._template.before_time
        for _ in range(count):
            key, before_serial, after_serial, changes = self._pieces[self._next]
            self._next = (self._next + 1) % len(self._pieces)
            self._serial += 1
            number = b"%016x" % self._serial
            head = (before_id, b"00000000-0000-7000-", number, before_time, made, before_serial)
            yield key, b"".join((*head, number if changes else _SAME, after_serial))


def _changes(of: Asset, share: float) -> bool:
    """The same assets every time, so that the others have not been changed in between."""
    return share >= 1 or zlib.crc32(of.qualified_name.encode()) % 1000 < share * 1000


def sample(pool: int, count: int, seed: int) -> list[Asset]:
    """So many different assets of the pool in random order; all of them if there are fewer."""
    return [asset(number) for number in random.Random(seed).sample(range(pool), min(count, pool))]


def producer(kafka: Mapping[str, Any]) -> Producer:
    """As the doors have it: durable, and batched a little."""
    return Producer(
        {
            **kafka,
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 5,
            "compression.type": "lz4",
            "partitioner": "murmur2_random",
            "queue.buffering.max.messages": 200_000,
        }
    )


def send(log: Producer, payloads: Payloads, count: int, topic: str = ASSETS) -> None:
    """Hands so many events to the producer."""
    for start in range(0, count, CHUNK):
        for key, value in payloads.take(min(CHUNK, count - start)):
            while True:
                try:
                    log.produce(topic, value, key)
                    break
                except BufferError:
                    log.poll(0.05)
        log.poll(0)
