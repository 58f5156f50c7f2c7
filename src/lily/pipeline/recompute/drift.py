"""Whether what is stored as derived is what a recomputation gives; and its repair, by marking what is not."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

from lily.pipeline.recompute.derived_tags import KEY, Told, recompute
from lily.pipeline.recompute.stored_graphs import QUIET_SECONDS, Stored, read_stored
from lily.store.postgres.propagation.marks import AssetMark, EdgeMark, Marks
from lily.store.postgres.propagation.propagator import Propagator

EXAMPLES = 10
MARKED_AT_ONCE = 20_000  # a run is one transaction, and its marks are in memory
PROBLEMS = ("missing", "surplus", "different")


@dataclass(frozen=True, slots=True)
class Drift:
    """`rows`: tenant, tag, id, kind, problem, depth, stored, and whether the tag travels at all.

    What is `different` is stored at another depth, or via a neighbour that does not support it.
    """

    rows: DataFrame
    tenants: int
    derived: int  # as they should be
    counts: dict[str, int]
    behind: bool
    seconds: float

    @property
    def any(self) -> int:
        return sum(self.counts.values())

    def examples(self) -> list[dict[str, Any]]:
        shown = self.rows.orderBy("tenant", "depth", *KEY).drop("travels").limit(EXAMPLES)
        return [row.asDict() for row in shown.collect()]


def find_drift(
    spark: SparkSession,
    database_url: str,
    tenant: str | None = None,
    told: Told = lambda *_: None,
    *,
    patience: float = QUIET_SECONDS,
) -> Drift:
    """Looks for a moment at which nothing is on its way to be propagated, for as long as there is patience."""
    began = time.monotonic()
    stored = read_stored(tuned(spark), database_url, tenant, patience)
    told("edges", stored.graphs.edges.count())
    expected = recompute(stored.graphs, told).localCheckpoint()
    travels = stored.graphs.definitions.select("tenant", "tag", F.lit(True).alias("travels"))
    rows = differences(expected, stored.derived).join(travels, ["tenant", "tag"], "left").localCheckpoint()
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
    """With options of its own: many short rounds, each one job, over tables that stay where they are."""
    own = spark.newSession()
    own.conf.set("spark.sql.adaptive.enabled", "false")
    own.conf.set("spark.sql.shuffle.partitions", str(2 * spark.sparkContext.defaultParallelism))
    return own


def differences(expected: DataFrame, stored: DataFrame) -> DataFrame:
    """What is stored must be there, as near, and via one of those that really support it."""
    right = expected.select(*KEY, "via", "depth", F.lit(True).alias("right"))
    judged = stored.join(right, [*KEY, "via", "depth"], "left").select(*KEY, F.col("depth").alias("stored"), "right")
    wanted = expected.select(*KEY, "depth").distinct()
    problem = (
        F.when(F.col("stored").isNull(), "missing")
        .when(F.col("depth").isNull(), "surplus")
        .when(F.col("right").isNull(), "different")
    )
    compared = wanted.join(judged, KEY, "full").withColumn("problem", problem)
    return compared.where("problem is not null").select(*KEY, "problem", "depth", "stored")


def repair(database_url: str, drift: Drift, told: Callable[[int], None] = lambda _: None) -> None:
    """Propagates anew around all that differs. It can be repeated, and does no harm beside a running pipeline."""
    propagator = Propagator(database_url)
    try:
        for tenant, marks in _marks(drift.rows):
            propagator.propagate(tenant, marks)
            told(len(marks.assets))
    finally:
        propagator.close()


def _marks(rows: DataFrame) -> Iterator[tuple[str, Marks]]:
    """The nearest to their origins first: of what lies behind them most is mended with them."""
    nearest = rows.groupBy("tenant", "id").agg(
        F.min(F.coalesce("depth", F.lit(0))).alias("near"),
        F.collect_set(F.when(F.col("travels").isNull(), F.col("tag"))).alias("tags"),
    )
    ordered = nearest.orderBy("tenant", "near", "id").toLocalIterator()
    for tenant, group in groupby(ordered, key=lambda row: str(row["tenant"])):
        marks = Marks()
        for row in group:
            marks.assets.append(AssetMark(row["id"]))
            # From an asset to itself: one that is not in the graph is placed there, or it would not be looked at.
            marks.edges.append(EdgeMark(row["id"], row["id"]))
            marks.tags.update(row["tags"])  # of those that do not travel, or are not even defined
            if len(marks.assets) == MARKED_AT_ONCE:
                yield tenant, marks
                marks = Marks()
        if marks.assets:
            yield tenant, marks


def _tenants(stored: Stored) -> int:
    return int(stored.graphs.definitions.select("tenant").distinct().count())
