"""The Prometheus metrics of the API. Labels are routes, statuses, lanes and topics, never tenants."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import psutil  # type: ignore[import-untyped]
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

from lily.intake.sql.protocol import Status
from lily.model.lanes import LANES, Lane
from lily.model.quotas import Quota
from lily.policy import ACTIONS, Action

EFFECTS = ("allow", "deny", "mask", "row-filter")
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True, slots=True)
class PolicyMetrics:
    """The metrics of decisions: `decisions` by effect, `denials` of the API's own calls by action."""

    decisions: dict[str, Counter]
    denials: dict[Action, Counter]
    refreshes: Histogram
    unconfirmed: Gauge
    logged: Counter
    dropped: Counter


class ApiMetrics:
    """A registry of its own, so that two applications in one process (as in tests) do not count together.

    With several workers, each counts in files of a shared directory, and each can add all of them up. The files of a
    worker that ended are kept, so that no counter decreases when the worker is replaced.
    """

    def __init__(self, shared: Path | None = None) -> None:
        self.registry = CollectorRegistry()
        self._shared = shared
        if shared is not None:
            _drop_gauges_of_ended_workers(shared)
        call = ("method", "route", "status")
        self.requests = self._histogram("lily_http_request_seconds", "Time to respond to a request", call)
        self.rpcs = self._histogram("lily_grpc_request_seconds", "Time to respond to a call over gRPC", call)
        self.ranger_seconds = self._histogram(
            "lily_ranger_documents_seconds", "Time to make the documents of a Ranger service", ()
        )
        self._lake_reads = self._histogram("lily_lake_read_seconds", "Time to read from the lake", ("kind",))
        accepted = Counter("lily_events_accepted", "Events durably in the log", ["lane"], registry=self.registry)
        # Looked up once: for each row of a bulk body, the library's look-up would cost more than the increment.
        self.accepted: dict[Lane, Counter] = {lane: accepted.labels(lane) for lane in LANES}
        self.refused = self._counter("lily_events_refused", "Events that the API refused")
        self.bytes = self._counter("lily_event_bytes", "Bytes of the events that were accepted")
        statements = Counter(
            "lily_sql_statements",
            "Statements of SQL scripts, by how they were understood",
            ["status"],
            registry=self.registry,
        )
        self.sql_statements = {status: statements.labels(status) for status in get_args(Status)}
        webhooks = Counter("lily_webhooks", "Webhooks of other systems", ["outcome"], registry=self.registry)
        self.webhooks_accepted, self.webhooks_refused = webhooks.labels("accepted"), webhooks.labels("refused")
        self.peer_errors = self._counter("lily_metrics_peer_errors", "Processes whose metrics could not be fetched")
        self.look_errors = self._counter(
            "lily_metrics_look_errors", "Failed reads of the gauges that are read on demand"
        )
        exceeded = Counter("lily_quota_refusals", "Requests beyond a quota", ["quota"], registry=self.registry)
        self.quota_refusals: dict[Quota, Counter] = {quota: exceeded.labels(quota) for quota in get_args(Quota)}
        reviews = Counter(
            "lily_protection_reviews",
            "Decisions about what ended without authority",
            ["outcome"],
            registry=self.registry,
        )
        self.protection_reviews = {outcome: reviews.labels(outcome) for outcome in ("confirmed", "undone")}
        failures = Counter(
            "lily_failed_authentications",
            "Calls without a valid token or signature",
            ["outcome"],
            registry=self.registry,
        )
        self.failed_authentications = {name: failures.labels(name) for name in ("refused", "limited", "busy")}
        self.unconfirmed = self._gauge(
            "lily_log_unconfirmed_events", "Events handed to the log and not yet confirmed", "livesum"
        )
        self.connections = self._gauge("lily_websocket_connections", "Open WebSocket connections", "livesum")
        # The issuer is its position in the settings: its URL could name a tenant.
        self.oidc_logins = self._outcomes("lily_oidc_logins", "Access tokens of issuers that were verified")
        self.oidc_key_refreshes = self._outcomes("lily_oidc_key_refreshes", "Fetches of issuers' signing keys")
        self._gauge("lily_api_workers", "Processes that serve the API", "livesum").set(1)
        self.certificate_expiry = self._gauge(
            "lily_tls_certificate_expiry_seconds", "When the API's certificate expires (Unix time); 0 without TLS"
        )
        self.backlog = self._gauge("lily_outbox_backlog_batches", "Committed batches not yet published as changes")
        self.dead_letters = self._gauge("lily_dead_letters", "Events the pipeline refused (PostgreSQL's estimate)")
        self.lag = Gauge(
            "lily_log_lag_events",
            "Events in the log and not yet applied",
            ["topic"],
            registry=self.registry,
            multiprocess_mode="mostrecent",
        )
        decisions = Counter("lily_policy_decisions", "Decisions by effect", ["effect"], registry=self.registry)
        denials = Counter("lily_policy_denials", "Assets that the API denied", ["action"], registry=self.registry)
        self.policy = PolicyMetrics(
            decisions={effect: decisions.labels(effect) for effect in EFFECTS},
            refreshes=self._histogram(
                "lily_policy_refresh_seconds", "Time to read and compile a tenant's policies", ()
            ),
            unconfirmed=Gauge(
                "lily_policy_unconfirmed_seconds",
                "Age of the last confirmation that no change of policies was missed; decisions verify if it is over 1",
                registry=self.registry,
                multiprocess_mode="livemax",
            ),
            denials={action: denials.labels(action) for action in ACTIONS},
            logged=self._counter("lily_policy_decisions_logged", "Decisions written to the log of decisions"),
            dropped=self._counter(
                "lily_policy_decisions_dropped", "Decisions that the log of decisions had no room for"
            ),
        )

    def text(self) -> str:
        """All metrics in the Prometheus text format; with several workers, those of all workers."""
        registry = self.registry
        if self._shared is not None:
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry, str(self._shared))  # type: ignore[no-untyped-call]
        return generate_latest(registry).decode()

    def lake_read(self, kind: str, seconds: float) -> None:
        self._lake_reads.labels(kind).observe(seconds)

    def _histogram(self, name: str, help_text: str, labels: Sequence[str]) -> Histogram:
        return Histogram(name, help_text, labels, buckets=_BUCKETS, registry=self.registry)

    def _counter(self, name: str, help_text: str) -> Counter:
        return Counter(name, help_text, registry=self.registry)

    def _outcomes(self, name: str, help_text: str) -> Counter:
        return Counter(name, help_text, ["issuer", "outcome"], registry=self.registry)

    def _gauge(self, name: str, help_text: str, mode: Literal["livesum", "mostrecent"] = "mostrecent") -> Gauge:
        """`mode`: the values of several workers are added up, or describe the same thing and the newest counts."""
        return Gauge(name, help_text, registry=self.registry, multiprocess_mode=mode)


def _drop_gauges_of_ended_workers(shared: Path) -> None:
    """Called when a worker starts, because a worker that ended is replaced."""
    for path in shared.glob("gauge_live*_*.db"):
        process = int(path.stem.rpartition("_")[2])
        if process != os.getpid() and not psutil.pid_exists(process):
            multiprocess.mark_process_dead(process, str(shared))  # type: ignore[no-untyped-call]
