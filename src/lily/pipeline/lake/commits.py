"""Commits of the lake query, recorded in the snapshots of `events` together with the offsets where they end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

from lily.model.records import Partition
from lily.pipeline.lake.task import PartitionReport
from lily.pipeline.offsets import offsets_from_json, offsets_to_json
from lily.store.lake import tables


@dataclass(frozen=True, slots=True)
class Commit:
    number: int = 0
    next_offsets: Mapping[Partition, int] = field(default_factory=dict)
    events: int = 0
    began: float = 0.0

    def next(self, reports: Iterable[PartitionReport], began: float) -> "Commit":
        """The commit of the batch that follows, from the reports of its tasks. A retried task may report twice."""
        offsets = dict(self.next_offsets)
        events = 0
        for report in reports:
            partition = (report.topic, report.partition)
            offsets[partition] = max(report.next_offset, offsets.get(partition, 0))
            events += report.events
        return Commit(self.number + 1, offsets, events, began)

    def as_properties(self) -> dict[str, str]:
        return {
            tables.BATCH_PROPERTY: str(self.number),
            tables.POSITIONS_PROPERTY: offsets_to_json(self.next_offsets),
            "lily.events": str(self.events),
            "lily.began": str(self.began),
        }

    @classmethod
    def from_properties(cls, summary: Mapping[str, str]) -> "Commit":
        return cls(
            int(summary[tables.BATCH_PROPERTY]),
            offsets_from_json(summary[tables.POSITIONS_PROPERTY]),
            int(summary["lily.events"]),
            float(summary["lily.began"]),
        )


@dataclass(frozen=True, slots=True)
class LastCommit:
    commit: Commit
    committed_at: datetime | None = None  # None if nothing was committed yet


def last_commit(spark: SparkSession) -> LastCommit:
    """The snapshot with offsets and the greatest number. Maintenance creates snapshots too, without offsets, but never
    expires this one.

    If `events` has rows and no such snapshot, something other than Lily changed it; then its rows give the offsets.
    """
    if (snapshot := _newest_snapshot(spark)) is not None:
        return LastCommit(Commit.from_properties(snapshot["summary"]), snapshot["committed_at"].astimezone(UTC))
    ends = (
        spark.table(tables.identifier(tables.EVENTS))
        .groupBy("topic", "partition")
        .agg(F.max("offset").alias("last"), F.max("batch").alias("batch"))
        .collect()
    )
    offsets = {(row["topic"], row["partition"]): row["last"] + 1 for row in ends}
    return LastCommit(Commit(max((row["batch"] for row in ends), default=0), offsets))


def last_committed_at(spark: SparkSession) -> datetime | None:
    snapshot = _newest_snapshot(spark)
    return None if snapshot is None else snapshot["committed_at"].astimezone(UTC)


def _newest_snapshot(spark: SparkSession) -> Row | None:
    return (
        spark.table(f"{tables.identifier(tables.EVENTS)}.snapshots")
        .where(F.col("summary")[tables.BATCH_PROPERTY].isNotNull())
        # By number: clocks of two drivers differ, and two commits may have the same millisecond.
        .orderBy(F.col("summary")[tables.BATCH_PROPERTY].cast("long").desc())
        .select("summary", "committed_at")
        .first()
    )
