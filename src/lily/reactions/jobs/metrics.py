"""Metrics of the job queue."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

OUTCOMES = ("done", "waits", "retried", "failed")


class JobMetrics:
    """Counts are of one process. `waiting` and `oldest` are of the whole queue, the same in every worker."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._jobs = Counter("lily_jobs", "Attempts at jobs, by outcome", ["task", "outcome"], registry=registry)
        self._seconds = Histogram("lily_job_seconds", "Time of an attempt at a job", ["task"], registry=registry)
        self.waiting = Gauge("lily_jobs_waiting", "Jobs in the queue", registry=registry)
        self.oldest = Gauge(
            "lily_jobs_oldest_seconds", "How long the job that has waited longest could have run", registry=registry
        )

    def register(self, task: str) -> None:
        """Shows the task with zeros before its first job."""
        for outcome in OUTCOMES:
            self._jobs.labels(task, outcome)

    def attempted(self, task: str, outcome: str, seconds: float) -> None:
        self._jobs.labels(task, outcome).inc()
        self._seconds.labels(task).observe(seconds)
