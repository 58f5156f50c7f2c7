"""Metrics of enforcement."""

from prometheus_client import CollectorRegistry, Counter, Histogram

OUTCOMES = ("unchanged", "applied", "waiting", "failed", "removed")


class EnforcementMetrics:
    """Of one process: with several workers, sum over them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.runs = Counter("lily_enforcement_runs", "Runs of targets, by outcome", ["outcome"], registry=registry)
        self.steps = Counter("lily_enforcement_steps", "Changes made in targets", registry=registry)
        self.drift = Counter("lily_enforcement_drift", "Tables of targets that were changed by hand", registry=registry)
        self.failures = Counter(
            "lily_enforcement_failed_tables", "Tables of targets that could not be changed", registry=registry
        )
        self.seconds = Histogram(
            "lily_enforcement_seconds",
            "Time of a run of a target",
            registry=registry,
            buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60, 300),
        )
        self.lag = Histogram(
            "lily_enforcement_lag_seconds",
            "From a change that concerns a target to its confirmation",
            registry=registry,
            buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 3600),
        )
        for outcome in OUTCOMES:
            self.runs.labels(outcome)
