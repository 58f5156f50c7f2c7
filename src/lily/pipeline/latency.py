"""Latency from the log to the catalogue: counted in the tasks and summed up in the driver."""

import threading
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

BOUNDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0, 300.0)


def bucket_counts(ages: Sequence[float]) -> tuple[list[int], float]:
    """The number of events per bucket, and the sum of their ages in seconds."""
    counts = [0] * (len(BOUNDS) + 1)
    for age in ages:
        counts[bisect_left(BOUNDS, age)] += 1
    return counts, sum(ages)


class LatencyHistogram(Collector):
    """A Prometheus histogram that accepts counts per bucket, because tasks report counts, not observations."""

    def __init__(self, name: str, documentation: str) -> None:
        self._name, self._documentation = name, documentation
        self._counts = [0] * (len(BOUNDS) + 1)
        self._sum = 0.0
        self._lock = threading.Lock()

    def add(self, counts: Sequence[int], seconds: float) -> None:
        with self._lock:
            self._counts = [have + more for have, more in zip(self._counts, counts, strict=True)]
            self._sum += seconds

    def collect(self) -> Iterable[HistogramMetricFamily]:
        with self._lock:
            total, buckets = 0, []
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), self._counts, strict=True):
                total += count
                buckets.append((bound, total))
            yield HistogramMetricFamily(self._name, self._documentation, buckets=buckets, sum_value=self._sum)
