"""Compares the stored derived tags with a recomputation, and repairs differences by propagating again around them."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

from lily.lineage.marks import AssetMark, EdgeMark, Marks
from lily.pipeline.recompute.snapshot import QUIET_SECONDS, Snapshot, read_snapshot
from lily.pipeline.recompute.tag_recomputation import KEY, Progress, recompute
from lily.store.postgres.propagation.propagator import Propagator

MAX_EXAMPLES = 10
MARKS_AT_ONCE = 20_000  # a run is one transaction, with its marks in memory
PROBLEMS = ("missing", "surplus", "different")


@dataclass(frozen=True, slots=True)
class Drift:
    """`rows`: tenant, tag, id, kind, problem, depth, stored, and whether the tag propagates at all.

    A `different` row is stored with another depth, or via a neighbour that the tag does not come from.
    """

    rows: DataFrame
    tenants: int
    derived: int  # expected
    counts: dict[str, int]
    behind: bool
    seconds: float

    @property
    def any(self) -> int:
        return sum(self.counts.values())

    def examples(self) -> list[dict[str, Any]]:
        shown = self.rows.orderBy("tenant", "depth", *KEY).drop("propagates").limit(MAX_EXAMPLES)
        return [row.asDict() for row in shown.collect()]


def find_drift(
    spark: SparkSession,
    database_url: str,
    tenant: str | None = None,
    progress: Progress = lambda *_: None,
    *,
    timeout: float = QUIET_SECONDS,
) -> Drift:
    """Waits for a moment at which propagation has caught up, at most until the timeout."""
    began = time.monotonic()
    stored = read_snapshot(tuned(spark), database_url, tenant, timeout)
    progress("edges", stored.graphs.edges.count())
    expected = recompute(stored.graphs, progress).localCheckpoint()
    propagates = stored.graphs.definitions.select("tenant", "tag", F.lit(True).alias("propagates"))
    rows = differences(expected, stored.derived).join(propagates, ["tenant", "tag"], "left").localCheckpoint()
    found = {row["problem"]: row["count"] for row in rows.groupBy("problem").count().collect()}
    return Drift(
        rows,
        _tenants(stored),
        expected.select(*KEY).distinct().count(),
        {problem: found.get(problem, 0) for problem in PROBLEMS},
        stored.behind,
        time.monotonic() - began,
    )


def tuned(spark: SparkSession) -> SparkSession:
    """A session with options for many short rounds, each one job, over tables that are not moved."""
    own = spark.newSession()
    own.conf.set("spark.sql.adaptive.enabled", "false")
    own.conf.set("spark.sql.shuffle.partitions", str(2 * spark.sparkContext.defaultParallelism))
    return own


def differences(expected: DataFrame, stored: DataFrame) -> DataFrame:
    """A stored tag must be expected, at the same depth, and via a neighbour that it comes from."""
    correct = expected.select(*KEY, "via", "depth", F.lit(True).alias("correct"))
    checked = stored.join(correct, [*KEY, "via", "depth"], "left").select(
        *KEY, F.col("depth").alias("stored"), "correct"
    )
    depths = expected.select(*KEY, "depth").distinct()
    problem = (
        F.when(F.col("stored").isNull(), "missing")
        .when(F.col("depth").isNull(), "surplus")
        .when(F.col("correct").isNull(), "different")
    )
    compared = depths.join(checked, KEY, "full").withColumn("problem", problem)
    return compared.where("problem is not null").select(*KEY, "problem", "depth", "stored")


def repair(database_url: str, drift: Drift, progress: Callable[[int], None] = lambda _: None) -> None:
    """Propagates again around every difference. Idempotent, and safe while the pipeline runs."""
    propagator = Propagator(database_url)
    try:
        for tenant, marks in _marks(drift.rows):
            propagator.propagate(tenant, marks)
            progress(len(marks.assets))
    finally:
        propagator.close()


def _marks(rows: DataFrame) -> Iterator[tuple[str, Marks]]:
    """Assets nearest to their origins first, because most differences further away are repaired with them."""
    nearest = rows.groupBy("tenant", "id").agg(
        F.min(F.coalesce("depth", F.lit(0))).alias("near"),
        F.collect_set(F.when(F.col("propagates").isNull(), F.col("tag"))).alias("tags"),
    )
    ordered = nearest.orderBy("tenant", "near", "id").toLocalIterator()
    for tenant, group in groupby(ordered, key=lambda row: str(row["tenant"])):
        marks = Marks()
        for row in group:
            marks.assets.append(AssetMark(row["id"]))
            # An edge from the asset to itself adds it to the graph; otherwise propagation would ignore it.
            marks.edges.append(EdgeMark(row["id"], row["id"]))
            marks.tags.update(row["tags"])  # tags that do not propagate, or are not defined
            if len(marks.assets) == MARKS_AT_ONCE:
                yield tenant, marks
                marks = Marks()
        if marks.assets:
            yield tenant, marks


def _tenants(stored: Snapshot) -> int:
    return int(stored.graphs.definitions.select("tenant").distinct().count())
