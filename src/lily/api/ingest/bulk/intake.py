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
from lily.plugins import BlankRows, Row

_AFTER = "content after document"  # orjson's words
_EARLIER = Problem("LOG_UNAVAILABLE", "The log did not confirm an earlier row. Send this one again.", "row")


@dataclass(slots=True)
class BulkIntake:
    """Once the log has failed to confirm a row, the remaining rows are refused without another attempt.

    Raises Refused when so many rows were refused that the rest should not be read.
    """

    call: Call
    append: LogAppend
    rows: int = 0
    readable: int = 0
    rejected: int = 0
    log_failed: bool = False
    stopped: Refused | None = None  # why the rest of the body was not read
    errors: list[dict[str, Any]] = field(default_factory=list)
    _events: list[AssetEvent] = field(default_factory=list)  # valid rows that are not yet handed to the log
    _records: list[Record] = field(default_factory=list)
    _numbers: list[int] = field(default_factory=list)
    _bytes: int = 0

    @property
    def accepted(self) -> int:
        return self.append.confirmed

    async def add(self, row: Row) -> None:
        if isinstance(row, BlankRows):
            self.rows += row.count
            return
        self.rows += 1
        if row == b"":
            return
        try:
            event = source_event(self.call, self._body(row))
            record = bulk_asset_record(event)
        except Refused as error:
            self._reject(self.rows, error.problems)
            self._refuse_too_many()
            return
        self._events.append(event)
        self._records.append(record)
        self._numbers.append(self.rows)
        self._bytes += len(record.value)
        if len(self._records) >= GROUP_RECORDS or self._bytes >= GROUP_BYTES:
            await self.flush()

    def stop(self, reason: Refused) -> None:
        """Reports the rest of the body as one refused row. It is listed even if the list of errors is full."""
        self.stopped = reason
        self.rows += 1
        self.rejected += 1
        del self.errors[max(self.call.services.settings.limits.bulk_errors - len(reason.problems), 0) :]
        for problem in reason.problems:
            description = f"{problem.description}; the rows from here on were not read"
            self.errors.append({"row": self.rows, **Problem(problem.code, description, problem.entity).as_dict()})

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

    def _body(self, row: bytes | dict[str, Any] | Problem) -> Any:
        if isinstance(row, Problem):
            raise Refused(row)
        body = _parsed(row) if isinstance(row, bytes) else row
        self.readable += 1
        return body

    def _refuse_too_many(self) -> None:
        limit = self.call.services.settings.limits.bulk_rejections
        if self.rejected >= limit:
            description = f"{limit} rows were refused (the limit is LILY_LIMITS__BULK_REJECTIONS)"
            raise Refused(Problem("TOO_MANY_REJECTED", description, "body"))

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


def _parsed(row: bytes) -> Any:
    try:
        return parse_json(row, "the row")
    except Refused as error:
        problem = error.problems[0]
        if _AFTER not in problem.description:
            raise
        # `curl -d @file` removes the newlines of the file.
        description = f"{problem.description}; send one document per line; curl keeps the newlines with --data-binary"
        raise Refused(Problem(problem.code, description, problem.entity)) from error
