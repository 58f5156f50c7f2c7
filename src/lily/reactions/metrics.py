"""Metrics of reactions, by reaction."""

import threading
import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

RATE_SECONDS = 60.0  # the window of the rate


class ReactionMetrics:
    """Of one process: with several workers, sum over them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._events = Counter("lily_reaction_events", "Events handled", ["reaction"], registry=registry)
        self._failures = Counter(
            "lily_reaction_failures", "Failed attempts, by outcome", ["reaction", "outcome"], registry=registry
        )
        self._seconds = Histogram(
            "lily_reaction_turn_seconds", "Time to handle what was read at once", ["reaction"], registry=registry
        )
        self.lag = Gauge(
            "lily_reaction_lag_events", "Events read by no worker yet, of leased partitions", ["reaction"],
            registry=registry,
        )  # fmt: skip
        self.parked = Gauge("lily_reaction_parked_events", "Events parked", ["reaction"], registry=registry)
        self.partitions = Gauge("lily_reaction_partitions", "Partitions leased", ["reaction"], registry=registry)
        self._rate = Gauge(
            "lily_reaction_rate", "Events handled per second over the last minute", ["reaction"], registry=registry
        )
        self._windows: dict[str, _Window] = {}

    def register(self, reaction: str) -> None:
        """Shows the reaction with zeros before its first event."""
        window = self._windows.setdefault(reaction, _Window())
        self._rate.labels(reaction).set_function(window.rate)
        self._events.labels(reaction)
        for outcome in ("retried", "parked", "dead_letter"):
            self._failures.labels(reaction, outcome)

    def handled(self, reaction: str, events: int, seconds: float) -> None:
        self._events.labels(reaction).inc(events)
        self._seconds.labels(reaction).observe(seconds)
        self._windows[reaction].add(events)

    def failed(self, reaction: str, outcome: str, count: int = 1) -> None:
        self._failures.labels(reaction, outcome).inc(count)


class _Window:
    """Counts by second, over the last minute."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._lock = threading.Lock()

    def add(self, events: int) -> None:
        now = int(time.monotonic())
        with self._lock:
            self._counts[now] = self._counts.get(now, 0) + events
            self._counts = {second: count for second, count in self._counts.items() if second > now - RATE_SECONDS}

    def rate(self) -> float:
        now = int(time.monotonic())
        with self._lock:
            recent = sum(count for second, count in self._counts.items() if second > now - RATE_SECONDS)
        return recent / RATE_SECONDS


def run_seconds(name: str, documentation: str, registry: CollectorRegistry) -> Histogram:
    """The duration of runs that take from milliseconds to a minute."""
    buckets = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60)
    return Histogram(name, documentation, registry=registry, buckets=buckets)
