"""A consumer of the change log that notes how old each change is when it arrives.

Its age counts from the event's `time`, which the store writes with the row, a little before the commit: the lag is
overstated by what was left of that transaction.
"""

import threading
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from bench.findings import BenchError
from lily.bus.topics import METADATA

SAMPLED = 10  # one in so many is timed, to keep this consumer light; all are counted
PATIENCE = 60.0
_TIME, _WIDTH = b'"time":"', 27


class ChangeFeed:
    """Counts from the end of the log as it was when this was made."""

    def __init__(self, kafka: Mapping[str, Any]) -> None:
        settings = {**kafka, "group.id": "bench", "enable.auto.commit": False}
        # Two: a consumer that is asked for the ends of the log while another thread polls it may never answer.
        self._consumer, self._asked = Consumer(settings), Consumer(settings)
        self._began = self._ends()
        self._consumer.assign([TopicPartition(METADATA, p, end) for p, end in self._began.items()])
        self.lags: list[float] = []
        self.count, self.last = 0, 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def drain(self) -> None:
        """Returns when everything that is in the log by now has arrived. Raises BenchError if it does not."""
        published = sum(self._ends().values()) - sum(self._began.values())
        deadline = time.monotonic() + PATIENCE
        while self.count < published:
            if time.monotonic() > deadline:
                raise BenchError(f"{published - self.count} published changes did not arrive")
            time.sleep(0.05)

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._consumer.close()
        self._asked.close()

    def _ends(self) -> dict[int, int]:
        found = self._asked.list_topics(METADATA, timeout=15).topics[METADATA].partitions
        return {p: self._asked.get_watermark_offsets(TopicPartition(METADATA, p), timeout=15)[1] for p in found}

    def _read(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(0.1)
            if message is None or message.error() is not None:
                continue
            self.last = time.time()
            if self.count % SAMPLED == 0:
                self.lags.append(self.last - _committed(message.value() or b""))
            self.count += 1


def _committed(event: bytes) -> float:
    start = event.index(_TIME) + len(_TIME)
    return datetime.fromisoformat(event[start : start + _WIDTH].decode()).timestamp()
