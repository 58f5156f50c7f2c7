"""Takes the rows of one bulk body: checks each, appends it to its lane when the log has room, and keeps count."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from lily.api.calls import Call
from lily.api.http.bodies import parse_json
from lily.api.ingest.asset_events import source_event
from lily.bus import topics
from lily.bus.producer import LogFull, LogUnavailable, Position
from lily.model.errors import Problem, Refused
from lily.model.lanes import Lane, lane_of
from lily.plugins import Row

IN_FLIGHT = 2_000  # unconfirmed rows of one body; the log's queue is shared with every other request
ROOM_SECONDS = 0.02


@dataclass(slots=True)
class BulkIntake:
    """Row by row. Once the log has failed to confirm a row, the rest is counted as refused instead of tried."""

    call: Call
    rows: int = 0
    readable: int = 0
    accepted: int = 0
    rejected: int = 0
    log_failed: bool = False
    errors: list[dict[str, Any]] = field(default_factory=list)
    newest: dict[tuple[str, int], Position] = field(default_factory=dict)
    _pending: deque[tuple[int, Lane, asyncio.Future[Position], int]] = field(default_factory=deque)

    async def take(self, row: Row) -> None:
        self.rows += 1
        if row == b"":
            return
        try:
            await self._append(self._body(row))
        except Refused as error:
            self._reject(self.rows, error.problems)

    async def finish(self) -> None:
        """Returns when every row is confirmed or refused."""
        while self._pending:
            await self._confirm_oldest()
        self.errors.sort(key=lambda error: int(error["row"]))
        self.call.services.metrics.refused.inc(self.rejected)

    def _body(self, row: Row) -> Any:
        if isinstance(row, Problem):
            raise Refused(row)
        body = parse_json(row) if isinstance(row, bytes) else row
        self.readable += 1
        return body

    async def _append(self, body: Any) -> None:
        event = source_event(self.call, body)
        lane = lane_of(event)
        key, value = topics.key_of(event.tenant, event.asset_id), orjson.dumps(event.as_cloudevent())
        while len(self._pending) >= IN_FLIGHT:
            await self._confirm_oldest()
        while not self.log_failed:
            try:
                confirmation = self.call.services.log.append(topics.OF_LANE[lane], key, value)
            except LogFull:
                await self._make_room()
            else:
                self._pending.append((self.rows, lane, confirmation, len(value)))
                return
        raise Refused(Problem("LOG_UNAVAILABLE", "The log did not confirm an earlier row. Send this one again.", "row"))

    async def _make_room(self) -> None:
        if self._pending:
            await self._confirm_oldest()
        else:
            await asyncio.sleep(ROOM_SECONDS)

    async def _confirm_oldest(self) -> None:
        row, lane, confirmation, size = self._pending.popleft()
        try:
            position = await confirmation
        except LogUnavailable as error:
            self.log_failed = True
            self._reject(row, (Problem("LOG_UNAVAILABLE", str(error), "row"),))
            return
        self.accepted += 1
        self.call.services.metrics.accepted[lane].inc()
        self.call.services.metrics.bytes.inc(size)
        partition = (position.topic, position.partition)
        if partition not in self.newest or self.newest[partition].offset < position.offset:
            self.newest[partition] = position

    def _reject(self, row: int, problems: Sequence[Problem]) -> None:
        self.rejected += 1
        room = self.call.services.settings.limits.bulk_errors - len(self.errors)
        self.errors += [{"row": row, **problem.as_dict()} for problem in problems[: max(room, 0)]]
