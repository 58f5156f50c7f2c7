"""Appends the many records of one write, and tells where in the log they stand once all are confirmed."""

import asyncio
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from lily.api.calls import Call
from lily.api.ingest.writes import receipt_headers, settled
from lily.api.receipts.receipt import Receipt
from lily.bus import topics
from lily.bus.producer import LogFull, Position
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.events import AssetEvent
from lily.model.lanes import Lane, lane_of

IN_FLIGHT = 64  # groups of one call that are not confirmed; the log's queue is shared with every other request


class Entry(NamedTuple):
    topic: str
    lane: Lane
    key: bytes
    value: bytes


def asset_entry(event: AssetEvent) -> Entry:
    """By the lane of what comes in bulk: what a run tells of plain columns can wait, the rest goes first."""
    lane = lane_of(event)
    return Entry(topics.OF_LANE[lane], lane, event.key, orjson.dumps(event.as_cloudevent()))


def edges_entry(event: EdgeEvent | ClaimsEvent) -> Entry:
    return Entry(topics.LINEAGE_INTAKE, "hot", event.key, orjson.dumps(event.as_cloudevent()))


@dataclass(slots=True)
class Appends:
    """If the log fails in between, part of the write is in it: repeating the whole is harmless."""

    call: Call
    positions: list[Position] = field(default_factory=list)  # of what was confirmed, in order
    _pending: deque[asyncio.Future[list[Position]]] = field(default_factory=deque)

    async def add(self, entries: Iterable[Entry]) -> None:
        """A group, which is confirmed together. Raises LogFull where not even waiting for earlier ones makes room."""
        group = list(entries)
        records = [(entry.topic, entry.key, entry.value) for entry in group]
        while len(self._pending) >= IN_FLIGHT:
            await self._confirm_oldest()
        while True:
            try:
                self._pending.append(self.call.services.log.append_together(records))
                break
            except LogFull:
                if not self._pending:
                    raise
                await self._confirm_oldest()
        count(self.call, group)

    async def confirmed(self) -> Receipt:
        """Where the last record of each partition stands. Raises LogUnavailable if one was not confirmed."""
        while self._pending:
            await self._confirm_oldest()
        newest = {(at.topic, at.partition): at for at in sorted(self.positions)}
        edges = any(topic == topics.LINEAGE_INTAKE for topic, _ in newest)
        return Receipt(tuple(newest.values()), travels=edges, correlation=self.call.correlation)

    async def _confirm_oldest(self) -> None:
        self.positions += await self._pending.popleft()


def count(call: Call, group: Sequence[Entry]) -> None:
    """For the metrics: what was handed to the log."""
    metrics = call.services.metrics
    for lane, entries in Counter(entry.lane for entry in group).items():
        metrics.accepted[lane].inc(entries)
    metrics.bytes.inc(sum(len(entry.value) for entry in group))


async def standing(call: Call, receipt: Receipt) -> tuple[int, dict[str, str]]:
    """The status and the headers of a write: 200 once all of it can be read, if the caller prefers to wait."""
    wait = call.wait()
    applied = await settled(call, receipt, wait)
    return (200 if applied else 202), receipt_headers(call, receipt, wait, applied=applied)
