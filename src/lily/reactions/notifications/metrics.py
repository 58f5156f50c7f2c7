"""Metrics of deliveries."""

from prometheus_client import CollectorRegistry, Counter, Histogram

OUTCOMES = ("delivered", "retried", "failed", "suppressed")


class DeliveryMetrics:
    """Of one process: with several workers, sum over them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._deliveries = Counter(
            "lily_notification_deliveries", "Attempts at deliveries of notifications", ["outcome"], registry=registry
        )
        self._lag = Histogram(
            "lily_notification_lag_seconds",
            "From when a notification was due to its delivery",
            registry=registry,
            buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 60, 600, 3600),
        )
        for outcome in OUTCOMES:
            self._deliveries.labels(outcome)

    def count(self, outcome: str, deliveries: int) -> None:
        self._deliveries.labels(outcome).inc(deliveries)

    def delivered(self, seconds: float, deliveries: int) -> None:
        self.count("delivered", deliveries)
        self._lag.observe(max(0.0, seconds))
