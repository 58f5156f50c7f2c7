"""A consumer of the change log that notes how old each change is when it arrives.

Its age counts from the event's `time`, which the store writes with the row, a little before the commit: the lag is
overstated by what was left of that transaction.
"""

import threading
import time
from datetime import datetime

from confluent_kafka import Consumer, TopicPartition

from bench.findings import BenchError
from lily.bus.topics import METADATA

SAMPLED = 10  # one in so many is timed, to keep this consumer light; all are counted
PATIENCE = 60.0
_TIME, _WIDTH = b'"time":"', 27


class ChangeFeed:
    """Counts from the end of the log as it was when this was made."""

    def __init__(self, kafka: str) -> None:
        self._consumer = Consumer(
            {"bootstrap.servers": kafka, "group.id": "bench-changes", "enable.auto.commit": False, "log_level": 2}
        )
        partitions = self._consumer.list_topics(METADATA, timeout=15).topics[METADATA].partitions
        ends = [
            TopicPartition(METADATA, p, self._consumer.get_watermark_offsets(TopicPartition(METADATA, p), 15)[1])
            for p in partitions
        ]
        self._consumer.assign(ends)
        self.lags: list[float] = []
        self.count, self.first, self.last = 0, 0.0, 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def wait_for(self, count: int) -> None:
        """Returns when so many changes have arrived. Raises BenchError if they do not."""
        deadline = time.monotonic() + PATIENCE
        while self.count < count:
            if time.monotonic() > deadline:
                raise BenchError(f"{count - self.count} changes were never published")
            time.sleep(0.05)

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._consumer.close()

    def _read(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(0.1)
            if message is None or message.error() is not None:
                continue
            self.last = time.time()
            self.first = self.first or self.last
            if self.count % SAMPLED == 0:
                self.lags.append(self.last - _committed(message.value() or b""))
            self.count += 1


def _committed(event: bytes) -> float:
    start = event.index(_TIME) + len(_TIME)
    return datetime.fromisoformat(event[start : start + _WIDTH].decode()).timestamp()
