"""The Prometheus metrics of the pipeline."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from pyspark.sql import Row

from lily.pipeline.latency import LatencyHistogram


class PipelineMetrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.events = Counter("lily_pipeline_events", "Records read from Kafka", registry=self.registry)
        self.merged = Counter("lily_pipeline_merged", "Layers merged into the catalogue", registry=self.registry)
        self.changed = Counter("lily_pipeline_changed", "Merged layers whose values changed", registry=self.registry)
        self.refused = Counter("lily_pipeline_dead_letters", "Records refused", registry=self.registry)
        self.held = Counter(
            "lily_pipeline_claims_held",
            "Claims that ended without authority and still conduct protective tags",
            registry=self.registry,
        )
        self.unsigned = Counter(
            "lily_pipeline_unsigned",
            "Events that claimed authority without a valid signature, and were applied without authority",
            registry=self.registry,
        )
        self.batches = Counter("lily_pipeline_batches", "Micro-batches applied", registry=self.registry)
        self.restarts = Counter(
            "lily_pipeline_query_restarts", "Restarts of a query after a failure", ["query"], registry=self.registry
        )
        self.batch_seconds = Histogram(
            "lily_pipeline_batch_seconds", "Duration of a micro-batch", registry=self.registry
        )
        self.last_batch = Gauge(
            "lily_pipeline_last_batch_timestamp_seconds", "End of the last micro-batch", registry=self.registry
        )
        self.latency = LatencyHistogram(
            "lily_pipeline_latency_seconds", "From the Kafka timestamp of an event to its commit in PostgreSQL"
        )
        self.registry.register(self.latency)
        self.lake_events = Counter("lily_lake_events", "Records written to the lake", registry=self.registry)
        self.lake_refused = Counter(
            "lily_lake_dead_letters", "Records of the bulk lane refused", registry=self.registry
        )
        self.lake_promoted = Counter(
            "lily_lake_promoted", "Changes made by promotion from the lake to PostgreSQL", registry=self.registry
        )
        self.lake_yields = Counter(
            "lily_lake_yields", "Half seconds that the lake query waited for the hot lane", registry=self.registry
        )
        self.lake_seconds = Histogram(
            "lily_lake_batch_seconds",
            "Duration of a batch of the lake query",
            registry=self.registry,
            buckets=(1, 2, 5, 10, 20, 30, 60, 120, 300),
        )
        self.lake_fresh = Gauge(
            "lily_lake_fresh_timestamp_seconds",
            "Every event with an earlier Kafka timestamp is in the lake",
            registry=self.registry,
        )

        self.usage_events = Counter("lily_usage_events", "Usage events counted", registry=self.registry)
        self.usage_repeated = Counter(
            "lily_usage_repeated", "Usage events that were counted before, by their ids", registry=self.registry
        )
        self.usage_refused = Counter("lily_usage_dead_letters", "Usage events refused", registry=self.registry)
        self.findings = Counter(
            "lily_quality_findings",
            "Findings of quality policies that counting opened or closed",
            ["change"],
            registry=self.registry,
        )

    def count(self, reports: Iterable[Row], seconds: float) -> None:
        for report in reports:
            self.events.inc(report["events"])
            self.merged.inc(report["merged"])
            self.changed.inc(report["changed"])
            self.refused.inc(report["refused"])
            self.held.inc(report["held"])
            self.unsigned.inc(report["unsigned"])
            self.latency.add(report["latency"], report["seconds"])
        self.batches.inc()
        self.batch_seconds.observe(seconds)
        self.last_batch.set_to_current_time()

    def count_lake(self, events: int, refused: int, promoted: int, seconds: float) -> None:
        self.lake_events.inc(events)
        self.lake_refused.inc(refused)
        self.lake_promoted.inc(promoted)
        self.lake_seconds.observe(seconds)

    def count_usage(self, reports: Iterable[Row]) -> None:
        for report in reports:
            self.usage_events.inc(report["counted"])
            self.usage_repeated.inc(report["events"] - report["counted"] - report["refused"])
            self.usage_refused.inc(report["refused"])
            for change in ("opened", "closed"):
                self.findings.labels(change).inc(report[change])
