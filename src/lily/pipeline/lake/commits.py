"""How far the lake has come, as the lake itself says: the newest commit of `events` that names its positions."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

from lily.store.lake import tables


@dataclass(frozen=True, slots=True)
class Positions:
    """The next offset to read, by topic and partition."""

    next_offsets: Mapping[tuple[str, int], int] = field(default_factory=dict)

    def advanced(self, ends: Iterable[tuple[str, int, int]]) -> "Positions":
        """With the ends of some partitions; a task that ran twice names its end twice."""
        offsets = dict(self.next_offsets)
        for topic, partition, end in ends:
            if partition >= 0:
                offsets[topic, partition] = max(end, offsets.get((topic, partition), 0))
        return Positions(offsets)

    def as_json(self) -> str:
        """As Spark's Kafka source takes it."""
        nested: dict[str, dict[str, int]] = {}
        for (topic, partition), offset in sorted(self.next_offsets.items()):
            nested.setdefault(topic, {})[str(partition)] = offset
        return json.dumps(nested)

    @classmethod
    def from_json(cls, text: str) -> "Positions":
        nested: dict[str, dict[str, int]] = json.loads(text)
        return cls({(topic, int(at)): offset for topic, ends in nested.items() for at, offset in ends.items()})


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the lake query."""

    number: int = 0
    positions: Positions = field(default_factory=Positions)
    events: int = 0
    began: float = 0.0

    def as_properties(self) -> dict[str, str]:
        return {
            tables.BATCH_PROPERTY: str(self.number),
            tables.POSITIONS_PROPERTY: self.positions.as_json(),
            "lily.events": str(self.events),
            "lily.began": str(self.began),
        }

    @classmethod
    def from_properties(cls, summary: Mapping[str, str]) -> "Commit":
        return cls(
            int(summary[tables.BATCH_PROPERTY]),
            Positions.from_json(summary[tables.POSITIONS_PROPERTY]),
            int(summary["lily.events"]),
            float(summary["lily.began"]),
        )


@dataclass(frozen=True, slots=True)
class Found:
    commit: Commit
    committed_at: Any = None  # a datetime; None where nothing was committed yet


def last_commit(spark: SparkSession) -> Found:
    """Maintenance makes snapshots too, which name no positions; `expire` never lets go of the newest one that does.

    A table that has events but no such snapshot was tampered with; then the events themselves tell their ends.
    """
    snapshots = spark.table(f"{tables.identifier(tables.EVENTS)}.snapshots")
    newest = (
        snapshots.where(F.col("summary")[tables.BATCH_PROPERTY].isNotNull())
        .orderBy(F.col("committed_at").desc())
        .select("summary", "committed_at")
        .first()
    )
    if newest is not None:
        return Found(Commit.from_properties(newest["summary"]), newest["committed_at"])
    ends = (
        spark.table(tables.identifier(tables.EVENTS))
        .groupBy("topic", "partition")
        .agg(F.max("offset").alias("last"), F.max("batch").alias("batch"))
        .collect()
    )
    positions = Positions({(row["topic"], row["partition"]): row["last"] + 1 for row in ends})
    return Found(Commit(max((row["batch"] for row in ends), default=0), positions))
