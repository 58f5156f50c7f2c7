"""The full recomputation at scale: everything that is derived, of all tenants at once, as joins of DataFrames.

It shares nothing with the SQL function `propagate`, whose result it checks; the oracle of the tests checks both.
A frontier of assets offers its tags to its neighbours, round by round, until nobody gains by it; tenant and tag are
columns, so a thousand small graphs take as many rounds as the deepest of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

HAS = ["tenant", "tag", "id"]
KEY = [*HAS, "kind"]

Told = Callable[[str, int], None]  # a step that was done, and how many rows it made


@dataclass(frozen=True, slots=True)
class Graphs:
    """What is stored, in the columns of `sql/recompute_*.sql`."""

    definitions: DataFrame
    edges: DataFrame
    assets: DataFrame
    nodes: DataFrame


def recompute(graphs: Graphs, told: Told = lambda *_: None) -> DataFrame:
    """Every derived tag with every neighbour that supports it: tenant, tag, id, kind, via, depth."""
    definitions = F.broadcast(graphs.definitions)
    ways = placed(arcs(graphs, told), "tenant", "id")
    stated = origins(graphs).localCheckpoint()
    silent = placed(blocked(graphs), *HAS)
    reached = distances(stated, silent, ways, definitions, told)
    having = reached.join(silent, HAS, "left_anti")
    offered = offers(having, ways, definitions).join(stated, HAS, "left_anti").distinct().localCheckpoint()
    nearest = offered.groupBy(*KEY).agg(F.min("depth").alias("depth"))
    return offered.join(nearest, [*KEY, "depth"]).select(*KEY, "via", "depth")


def placed(rows: DataFrame, *columns: str) -> DataFrame:
    """Spread and sorted by these columns, once: so that no round has to move the larger of its tables again."""
    spread = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    return rows.repartition(spread, *columns).sortWithinPartitions(*columns).localCheckpoint()


def parents(graphs: Graphs) -> DataFrame:
    """tenant, id, parent. Where PostgreSQL has no asset, the lake has told its parent to propagation."""
    elsewhere = graphs.nodes.join(graphs.assets, ["tenant", "id"], "left_anti")
    known = graphs.assets.select("tenant", "id", "parent").unionByName(elsewhere)
    return known.where(F.col("parent").isNotNull())


def members(graphs: Graphs, above: DataFrame, told: Told) -> DataFrame:
    """tenant, id: the ends of edges, also of dead ones, what was ever placed, and all that is above them."""
    ends = graphs.edges.select("tenant", "id").union(graphs.edges.select("tenant", F.col("to_id")))
    found = frontier = ends.union(graphs.nodes.select("tenant", "id")).distinct().localCheckpoint()
    while count := frontier.count():
        told("nodes", count)
        higher = frontier.join(above, ["tenant", "id"]).select("tenant", F.col("parent").alias("id")).distinct()
        frontier = higher.join(found, ["tenant", "id"], "left_anti").localCheckpoint()
        found = found.union(frontier)
    return found


def arcs(graphs: Graphs, told: Told) -> DataFrame:
    """tenant, id, to_id, type, masking, way, kind: from where to where a tag may pass, whatever its definition says."""
    above = parents(graphs).localCheckpoint()
    live = graphs.edges.where("conducts").select(
        "tenant", "id", "to_id", "type", "masking", F.lit("upstream").alias("but"), F.lit("propagated").alias("kind")
    )
    turned = live.select(
        "tenant", F.col("to_id").alias("id"), F.col("id").alias("to_id"), "type", "masking",
        F.lit("downstream").alias("but"), "kind",
    )  # fmt: skip
    against = graphs.definitions.where("direction <> 'downstream'").select("tenant").distinct()
    # Down to members alone: nothing below any other asset has an edge.
    down = above.join(members(graphs, above, told), ["tenant", "id"], "left_semi").select(
        "tenant", F.col("parent").alias("id"), F.col("id").alias("to_id"), F.lit(None).cast("string").alias("type"),
        F.lit(False).alias("masking"), F.lit("").alias("but"), F.lit("inherited").alias("kind"),
    )  # fmt: skip
    return live.union(turned.join(F.broadcast(against), "tenant", "left_semi")).union(down)


def origins(graphs: Graphs) -> DataFrame:
    """tenant, tag, id: who states a tag that travels."""
    stated = graphs.assets.select("tenant", "id", F.explode("stated").alias("tag"))
    return stated.join(F.broadcast(graphs.definitions), ["tenant", "tag"], "left_semi").select(*HAS)


def blocked(graphs: Graphs) -> DataFrame:
    """tenant, tag, id: from where a tag does not travel on, though it may have reached the asset."""
    suppressed = graphs.assets.select("tenant", "id", F.explode(F.array_except("suppressed", "stated")).alias("tag"))
    cut = graphs.assets.where("cut").select("tenant", "id")
    return suppressed.select(*HAS).union(cut.join(F.broadcast(graphs.definitions), "tenant").select(*HAS)).distinct()


def offers(having: DataFrame, ways: DataFrame, definitions: DataFrame) -> DataFrame:
    """tenant, tag, id, kind, via, depth: what those that have a tag (tenant, tag, id, depth) offer to neighbours."""
    along = having.join(definitions, ["tenant", "tag"]).join(ways, ["tenant", "id"])
    return along.where(_passes()).select(
        "tenant", "tag", F.col("to_id").alias("id"), "kind", F.col("id").alias("via"),
        (F.col("depth") + (F.col("kind") == "propagated").cast("int")).alias("depth"),
    )  # fmt: skip


def _passes() -> Column:
    """As lily.lineage.graph.Edge.passes; the hierarchy lets everything pass, and is no edge to be counted."""
    wanted = F.col("edge_types").isNull() | F.array_contains("edge_types", F.col("type"))
    near = F.col("max_depth").isNull() | (F.col("depth") < F.col("max_depth"))
    edge = (F.col("direction") != F.col("but")) & ~(F.col("masking") & F.col("stopped_by_masking")) & wanted & near
    return (F.col("kind") == "inherited") | edge


def distances(stated: DataFrame, silent: DataFrame, ways: DataFrame, definitions: DataFrame, told: Told) -> DataFrame:
    """tenant, tag, id, depth: for everyone who has a tag, stated or not, the fewest edges to an origin.

    A way of fewer edges may be the longer one, down a hierarchy, and be found later: then it is offered again.
    """
    found, number = stated.select(*HAS, F.lit(0).alias("depth"), F.lit(0).alias("round")).localCheckpoint(), 0
    frontier = found
    while count := frontier.count():
        told("reached", count)
        number += 1
        offered = offers(frontier.join(silent, HAS, "left_anti"), ways, definitions)
        offered = offered.select(*HAS, "depth", F.lit(number).alias("round"))
        # The nearest, and of those the first to come. Cut off from how it came about, or every round would do the work
        # of all before it.
        nearest = found.union(offered).groupBy(*HAS).agg(F.min(F.struct("depth", "round")).alias("nearest"))
        found = nearest.select(*HAS, "nearest.depth", "nearest.round").localCheckpoint()
        frontier = found.where(F.col("round") == number)
    return found.drop("round")
