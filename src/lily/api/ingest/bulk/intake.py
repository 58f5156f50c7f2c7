"""Validates and authorises the rows of one bulk body, appends each to its lane, and counts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lily.api.auth.authorisation import denied_events
from lily.api.calls import Call
from lily.api.http.bodies import parse_json
from lily.api.ingest.asset_events import source_event
from lily.api.ingest.log_append import GROUP_BYTES, GROUP_RECORDS, LogAppend
from lily.api.ingest.records import Record, bulk_asset_record
from lily.bus.producer import LogUnavailable
from lily.model.errors import Problem, Refused, Transient
from lily.model.events import AssetEvent
from lily.plugins import Row

_EARLIER = Problem("LOG_UNAVAILABLE", "The log did not confirm an earlier row. Send this one again.", "row")


@dataclass(slots=True)
class BulkIntake:
    """Once the log has failed to confirm a row, the remaining rows are refused without another attempt."""

    call: Call
    append: LogAppend
    rows: int = 0
    readable: int = 0
    rejected: int = 0
    log_failed: bool = False
    errors: list[dict[str, Any]] = field(default_factory=list)
    _events: list[AssetEvent] = field(default_factory=list)  # valid rows that are not yet handed to the log
    _records: list[Record] = field(default_factory=list)
    _numbers: list[int] = field(default_factory=list)
    _bytes: int = 0

    @property
    def accepted(self) -> int:
        return self.append.confirmed

    async def add(self, row: Row) -> None:
        self.rows += 1
        if row == b"":
            return
        try:
            event = source_event(self.call, self._body(row))
            record = bulk_asset_record(event)
        except Refused as error:
            self._reject(self.rows, error.problems)
            return
        self._events.append(event)
        self._records.append(record)
        self._numbers.append(self.rows)
        self._bytes += len(record.value)
        if len(self._records) >= GROUP_RECORDS or self._bytes >= GROUP_BYTES:
            await self.flush()

    async def flush(self) -> None:
        """Appends the rows so far: the client may pause, and the rows that it has sent should not wait."""
        events, records, numbers = self._events, self._records, self._numbers
        self._events, self._records, self._numbers, self._bytes = [], [], [], 0
        if self.log_failed:
            self._reject_all(numbers, _EARLIER)
        elif records:
            permitted = await self._permitted(events, numbers)
            if permitted:
                group = [records[place] for place in permitted]
                await self.append.add_group(group, partial(self._fail, [numbers[place] for place in permitted]))

    async def finish(self) -> None:
        """Returns when every row is confirmed or refused."""
        await self.flush()
        await self.append.receipt()
        self.errors.sort(key=lambda error: int(error["row"]))
        self.call.services.metrics.refused.inc(self.rejected)

    async def _permitted(self, events: Sequence[AssetEvent], numbers: Sequence[int]) -> Sequence[int]:
        """The places of the rows that no policy denies. One query per group, and none for an unrestricted caller."""
        try:
            denied = await denied_events(self.call, events)
        except Transient as error:
            self._reject_all(numbers, Problem("UNAVAILABLE", str(error), "row"))
            return ()
        for place, denial in denied.items():
            problem = Problem("FORBIDDEN", denial.reason, events[place].statement.qualified_name)
            self._reject(numbers[place], (problem,))
        return [place for place in range(len(events)) if place not in denied] if denied else range(len(events))

    def _body(self, row: Row) -> Any:
        if isinstance(row, Problem):
            raise Refused(row)
        body = parse_json(row) if isinstance(row, bytes) else row
        self.readable += 1
        return body

    def _fail(self, numbers: Sequence[int], error: LogUnavailable) -> None:
        self.log_failed = True
        self._reject_all(numbers, Problem("LOG_UNAVAILABLE", str(error), "row"))

    def _reject_all(self, numbers: Sequence[int], problem: Problem) -> None:
        for number in numbers:
            self._reject(number, (problem,))

    def _reject(self, row: int, problems: Sequence[Problem]) -> None:
        self.rejected += 1
        room = self.call.services.settings.limits.bulk_errors - len(self.errors)
        self.errors += [{"row": row, **problem.as_dict()} for problem in problems[: max(room, 0)]]
