"""Appends to the log from a thread of the worker."""

from collections.abc import Sequence

from lily.brokers import Brokers
from lily.bus.producer import LogProducer
from lily.model.records import Position
from lily.reactions.event_loop import EventLoop


class LogAppender:
    """Raises LogFull or LogUnavailable. Then some of the records may be in the log."""

    def __init__(self, brokers: Brokers, loop: EventLoop) -> None:
        self._brokers, self._loop = brokers, loop
        self._producer: LogProducer | None = None

    def __call__(self, records: Sequence[tuple[str, bytes, bytes]]) -> None:
        self._loop.run(self._append(records))

    async def _append(self, records: Sequence[tuple[str, bytes, bytes]]) -> list[Position]:
        if self._producer is None:  # connects, so only a worker that needs it makes one
            self._producer = LogProducer(self._brokers)
        return await self._producer.append(records)
