"""Appends to the log from a thread of the worker."""

from collections.abc import Sequence

from lily.bus.producer import LogProducer
from lily.model.records import Position
from lily.reactions.event_loop import EventLoop


class LogAppender:
    """Raises LogFull or LogUnavailable. Then some of the records may be in the log."""

    def __init__(self, bootstrap: str, loop: EventLoop) -> None:
        self._bootstrap, self._loop = bootstrap, loop
        self._producer: LogProducer | None = None

    def __call__(self, records: Sequence[tuple[str, bytes, bytes]]) -> None:
        self._loop.run(self._append(records))

    async def _append(self, records: Sequence[tuple[str, bytes, bytes]]) -> list[Position]:
        if self._producer is None:  # connects, so only a worker that needs it makes one
            self._producer = LogProducer(self._bootstrap)
        return await self._producer.append(records)
