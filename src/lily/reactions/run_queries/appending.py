"""Appends to the log from a thread of the worker."""

from collections.abc import Sequence

import orjson

from lily.brokers import Brokers
from lily.bus.authority import SigningKeys, sign
from lily.bus.producer import LogProducer
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.events import AssetEvent
from lily.model.records import Position
from lily.reactions.event_loop import EventLoop


class LogAppender:
    """Raises LogFull or LogUnavailable. Then some of the records may be in the log."""

    def __init__(self, brokers: Brokers, loop: EventLoop, keys: SigningKeys) -> None:
        self._brokers, self._loop, self._keys = brokers, loop, keys
        self._producer: LogProducer | None = None

    def __call__(self, events: Sequence[tuple[str, AssetEvent | ClaimsEvent | EdgeEvent]]) -> None:
        """Events with their topics."""
        self._loop.run(self._append([(topic, event.key, self._encoded(event)) for topic, event in events]))

    def _encoded(self, event: AssetEvent | ClaimsEvent | EdgeEvent) -> bytes:
        value = orjson.dumps(event.as_cloudevent())
        return sign(value, self._keys()) if event.has_authority else value

    async def _append(self, records: Sequence[tuple[str, bytes, bytes]]) -> list[Position]:
        if self._producer is None:  # connects, so only a worker that needs it makes one
            self._producer = LogProducer(self._brokers)
        return await self._producer.append(records)
