"""Splits a stream of events into batches that fit in memory, and adds up their results."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from lily.client.encoding import encoded, stamped
from lily.client.errors import Refused
from lily.client.results import BulkResult, ItemProblem

BATCH = 5_000
BATCH_BYTES = 16 << 20  # a batch is kept until it is confirmed, so that it can be sent again
KEPT_ERRORS = 1_000  # an endless stream can have endless errors: all are counted, the first are listed

Event = Mapping[str, Any]
Events = Iterable[Event]
Progress = Callable[[BulkResult], None]


class Bulk:
    """Collects events into bodies of newline-delimited JSON: `add` and `finish` return one when it is due.

    An event that cannot be written as JSON is refused here, as the API would; a blank line takes its place, so that
    the server's row numbers stay correct.
    """

    def __init__(self, batch: int = BATCH, on_progress: Progress | None = None) -> None:
        self._batch = batch
        self._on_progress = on_progress
        self._lines: list[bytes] = []
        self._size = 0
        self._sent = 0  # rows in bodies already returned
        self._before = 0  # rows before the body whose result is awaited
        self.result = BulkResult(readable=True)

    def add(self, event: Event) -> bytes | None:
        """Raises TypeError for what is no event."""
        if not isinstance(event, Mapping):
            raise TypeError(f"expected events, each a dict; {event!r:.80} is none. Put a single event into a list.")
        line = self._line(event)
        self._lines.append(line)
        self._size += len(line) + 1
        return self.finish() if len(self._lines) >= self._batch or self._size >= BATCH_BYTES else None

    def finish(self) -> bytes | None:
        """The rows collected so far; None if there is nothing to send."""
        lines, self._lines, self._size = self._lines, [], 0
        self._before, self._sent = self._sent, self._sent + len(lines)
        return b"\n".join(lines) + b"\n" if any(lines) else None

    def take(self, result: BulkResult) -> None:
        """Adds the result of the body returned last."""
        shifted = [replace(error, row=error.row + self._before) for error in result.errors]
        self._count(result.accepted, result.rejected, shifted, readable=result.readable)
        if self._on_progress:
            self._on_progress(self.result)

    def _line(self, event: Event) -> bytes:
        try:
            return encoded({**event, "time": stamped(event.get("time"))})
        except Refused as error:
            row = self._sent + len(self._lines) + 1
            problems = [ItemProblem(p.code, p.description, p.entity, row) for p in error.problems]
            self._count(0, 1, problems, readable=True)
            return b""

    def _count(self, accepted: int, rejected: int, errors: list[ItemProblem], *, readable: bool) -> None:
        now = self.result
        self.result = BulkResult(
            now.accepted + accepted,
            now.rejected + rejected,
            (now.errors + errors)[:KEPT_ERRORS],
            now.readable and readable,
        )
