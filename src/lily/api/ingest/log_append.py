"""Appends the records of a write to the log, counts them, and makes the receipt. All writes use it."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lily.api.calls import Call
from lily.api.ingest.records import Record
from lily.api.receipts.receipt import Receipt, Stated
from lily.api.receipts.settling import Settlement, settle
from lily.bus.authority import sign
from lily.bus.producer import LogFull, LogUnavailable
from lily.model.records import Position

UNCONFIRMED = 2_000  # records of one write: the producer's queue is shared with all other requests
GROUP_RECORDS = 100  # confirmed together: waking the event loop for each record costs as much as sending it
GROUP_BYTES = 256 << 10
ROOM_SECONDS = 0.02

Failed = Callable[[LogUnavailable], None]


@dataclass(slots=True)
class _Group:
    records: Sequence[Record]
    confirmation: asyncio.Future[list[Position]]
    failed: Failed | None


@dataclass(slots=True)
class LogAppend:
    """One write. If the log fails in between, it has a part of the write; repeating the whole write is harmless.

    Raises Refused at once if the caller's preference to wait is invalid, so that nothing is appended, and Declined with
    429 if the tenant exceeded a quota before; with `wait_for_room` it is slowed down instead.
    """

    call: Call
    wait_for_room: bool = False  # instead of raising LogFull: for a streamed body, which can be slowed down
    keep_positions: bool = False
    confirmed: int = 0
    positions: list[Position] = field(default_factory=list)  # of all confirmed records, if they are kept
    _wait: int | None = field(init=False)
    _unconfirmed: int = 0
    _groups: deque[_Group] = field(default_factory=deque)
    _newest: dict[tuple[str, int], Position] = field(default_factory=dict)
    _propagates: bool = False

    def __post_init__(self) -> None:
        self._wait = self.call.wait()
        if not self.wait_for_room:
            self.call.services.quotas.write(self.call.tenant)

    async def add(self, records: Iterable[Record]) -> None:
        """Hands records to the log. Raises LogFull if it has no room, LogUnavailable if it did not confirm earlier
        ones."""
        for group in _grouped(records):
            await self.add_group(group)
            await asyncio.sleep(0)  # a write can have ten thousand records; lets other requests run in between

    async def add_group(self, group: Sequence[Record], failed: Failed | None = None) -> None:
        """Adds records that are confirmed together. If the log does not confirm them, calls `failed` and continues;
        without `failed`, raises LogUnavailable."""
        while self._groups and self._unconfirmed + len(group) > UNCONFIRMED:
            await self._confirm_oldest()
        quotas, tenant = self.call.services.quotas, self.call.tenant
        if self.wait_for_room:
            await quotas.room(tenant)
        quotas.written(tenant, len(group), sum(len(record.value) for record in group))
        try:
            confirmation = await self._append(group)
        except LogUnavailable as error:
            if failed is None:
                raise
            failed(error)
        else:
            self._groups.append(_Group(group, confirmation, failed))
            self._unconfirmed += len(group)

    async def receipt(self, stated: Stated | None = None) -> Receipt:
        """Waits for the log to confirm everything. Raises LogUnavailable if it does not."""
        while self._groups:
            await self._confirm_oldest()
        correlation = "" if stated else self.call.correlation
        return Receipt(tuple(sorted(self._newest.values())), stated, self._propagates, correlation)

    async def settle(self, stated: Stated | None = None) -> Settlement:
        """The receipt, and whether the write can be read. Waits for that if the caller prefers to."""
        return await settle(self.call, await self.receipt(stated), self._wait)

    async def _append(self, group: Sequence[Record]) -> asyncio.Future[list[Position]]:
        records = self._signed(group)
        while True:
            try:
                return self.call.services.log.append(records)
            except LogFull:
                if self._groups:
                    await self._confirm_oldest()
                elif self.wait_for_room:
                    await asyncio.sleep(ROOM_SECONDS)
                else:
                    raise

    def _signed(self, group: Sequence[Record]) -> list[tuple[str, bytes, bytes]]:
        """The keys are looked up once for all of them: that looks at their file, and costs as much as to sign one."""
        keys = self.call.services.signing_keys() if any(record.has_authority for record in group) else ()
        return [
            (record.topic, record.key, sign(record.value, keys) if record.has_authority else record.value)
            for record in group
        ]

    async def _confirm_oldest(self) -> None:
        group = self._groups.popleft()
        self._unconfirmed -= len(group.records)
        try:
            positions = await group.confirmation
        except LogUnavailable as error:
            if group.failed is None:
                raise
            group.failed(error)
        else:
            self._count(group.records)
            self._keep(positions)

    def _count(self, records: Sequence[Record]) -> None:
        metrics = self.call.services.metrics
        for lane, number in Counter(record.lane for record in records).items():
            metrics.accepted[lane].inc(number)
        metrics.bytes.inc(sum(len(record.value) for record in records))
        self.confirmed += len(records)
        self._propagates = self._propagates or any(record.propagates for record in records)

    def _keep(self, positions: Sequence[Position]) -> None:
        for at in positions:
            newest = self._newest.get((at.topic, at.partition))
            if newest is None or newest.offset < at.offset:
                self._newest[at.topic, at.partition] = at
        if self.keep_positions:
            self.positions += positions


def _grouped(records: Iterable[Record]) -> Iterator[list[Record]]:
    group: list[Record] = []
    size = 0
    for record in records:
        group.append(record)
        size += len(record.value)
        if len(group) >= GROUP_RECORDS or size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
