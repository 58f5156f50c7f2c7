"""What the API counts and measures, for Prometheus. Labels are routes, statuses, lanes and topics, never tenants."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from lily.model.lanes import LANES, Lane

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class ApiMetrics:
    """A registry of its own, so that two applications in one process (as in tests) do not count together."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "lily_http_request_seconds",
            "Time to answer a request",
            ["method", "route", "status"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.rpcs = Histogram(
            "lily_grpc_request_seconds",
            "Time to answer a call over gRPC",
            ["method", "route", "status"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._lake_reads = Histogram(
            "lily_lake_read_seconds", "Time to read from the lake", ["kind"], buckets=_BUCKETS, registry=self.registry
        )
        accepted = Counter("lily_events_accepted", "Events durably in the log", ["lane"], registry=self.registry)
        # Looked up once: the library's own look-up would cost more than the counting, for every row of a bulk body.
        self.accepted: dict[Lane, Counter] = {lane: accepted.labels(lane) for lane in LANES}
        self.refused = self._counter("lily_events_refused", "Events refused at the door")
        self.bytes = self._counter("lily_event_bytes", "Bytes of the events that were accepted")
        self.peer_errors = self._counter("lily_metrics_peer_errors", "Processes whose metrics could not be fetched")
        self.look_errors = self._counter("lily_metrics_look_errors", "Gauges that could not be asked for")
        self.unconfirmed = self._gauge("lily_log_unconfirmed_events", "Events handed to the log and not yet confirmed")
        self.connections = self._gauge("lily_websocket_connections", "Open WebSocket connections")
        self.backlog = self._gauge("lily_outbox_backlog_batches", "Committed batches not yet published as changes")
        self.dead_letters = self._gauge("lily_dead_letters", "Events the pipeline refused (PostgreSQL's estimate)")
        self.lag = Gauge(
            "lily_log_lag_events", "Events in the log and not yet applied", ["topic"], registry=self.registry
        )

    def lake_read(self, kind: str, seconds: float) -> None:
        self._lake_reads.labels(kind).observe(seconds)

    def _counter(self, name: str, says: str) -> Counter:
        return Counter(name, says, registry=self.registry)

    def _gauge(self, name: str, says: str) -> Gauge:
        return Gauge(name, says, registry=self.registry)
