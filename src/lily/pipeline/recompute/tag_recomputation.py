"""Recomputes all derived tags, of all tenants at once, with joins of DataFrames.

It shares nothing with the SQL function `propagate`, whose result it checks; the oracle of the tests checks both.
In each round a frontier of assets offers its tags to its neighbours, until no asset gains any. Tenant and tag are
columns, so a thousand small graphs need as many rounds as the deepest of them.

A tag that came along an `influences` edge is an influence from there on, and is not inherited: `content` is false.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

from lily.model.edges import INFLUENCES

TAGGED = ["tenant", "tag", "id"]
KEY = [*TAGGED, "kind"]
PLACE = [*TAGGED, "content"]

Progress = Callable[[str, int], None]  # the step that was done, and its number of rows


@dataclass(frozen=True, slots=True)
class Graphs:
    """The stored graphs, with the columns of `store/postgres/recompute/sql/*.sql`."""

    definitions: DataFrame
    edges: DataFrame
    assets: DataFrame
    nodes: DataFrame
    held_parents: DataFrame


def recompute(graphs: Graphs, progress: Progress = lambda *_: None) -> DataFrame:
    """Every derived tag with every neighbour that it may come from: tenant, tag, id, kind, via, depth."""
    definitions = F.broadcast(graphs.definitions)
    steps = partitioned(arcs(graphs, progress), "tenant", "id")
    stated = origins(graphs).localCheckpoint()
    stopped = partitioned(blocked(graphs, stated), *PLACE)
    reached = distances(stated, stopped, steps, definitions, progress)
    passing_on = reached.join(stopped, PLACE, "left_anti")
    offered = offers(passing_on, steps, definitions).join(stated, TAGGED, "left_anti").distinct().localCheckpoint()
    nearest = offered.groupBy(*KEY).agg(F.min("depth").alias("depth"))
    return offered.join(nearest, [*KEY, "depth"]).select(*KEY, "via", "depth")


def partitioned(rows: DataFrame, *columns: str) -> DataFrame:
    """Partitions and sorts by these columns once, so that no round has to shuffle this larger table again."""
    partitions = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    return rows.repartition(partitions, *columns).sortWithinPartitions(*columns).localCheckpoint()


def parents(graphs: Graphs) -> DataFrame:
    """tenant, id, parent, also of those that are held. The parents of assets that only the lake has are in
    `graph_nodes`."""
    lake_only = graphs.nodes.join(graphs.assets, ["tenant", "id"], "left_anti")
    known = graphs.assets.select("tenant", "id", "parent").unionByName(lake_only)
    return known.where(F.col("parent").isNotNull()).unionByName(graphs.held_parents).distinct()


def graph_members(graphs: Graphs, above: DataFrame, progress: Progress) -> DataFrame:
    """tenant, id: the ends of all edges, deleted ones included, all nodes of the graph, and all their ancestors."""
    ends = graphs.edges.select("tenant", "id").union(graphs.edges.select("tenant", F.col("to_id")))
    found = frontier = ends.union(graphs.nodes.select("tenant", "id")).distinct().localCheckpoint()
    while count := frontier.count():
        progress("nodes", count)
        higher = frontier.join(above, ["tenant", "id"]).select("tenant", F.col("parent").alias("id")).distinct()
        frontier = higher.join(found, ["tenant", "id"], "left_anti").localCheckpoint()
        found = found.union(frontier)
    return found


def arcs(graphs: Graphs, progress: Progress) -> DataFrame:
    """tenant, id, to_id, type, masking, but, kind: every step that some tag may take; `but` is the direction that
    excludes it."""
    above = parents(graphs).localCheckpoint()
    live = graphs.edges.where("conducts").select(
        "tenant", "id", "to_id", "type", "masking", F.lit("upstream").alias("but"), F.lit("propagated").alias("kind")
    )
    turned = live.select(
        "tenant", F.col("to_id").alias("id"), F.col("id").alias("to_id"), "type", "masking",
        F.lit("downstream").alias("but"), "kind",
    )  # fmt: skip
    against = graphs.definitions.where("direction <> 'downstream'").select("tenant").distinct()
    # Only down to members of the graph: no asset below any other one has an edge.
    down = above.join(graph_members(graphs, above, progress), ["tenant", "id"], "left_semi").select(
        "tenant", F.col("parent").alias("id"), F.col("id").alias("to_id"), F.lit(None).cast("string").alias("type"),
        F.lit(False).alias("masking"), F.lit("").alias("but"), F.lit("inherited").alias("kind"),
    )  # fmt: skip
    return live.union(turned.join(F.broadcast(against), "tenant", "left_semi")).union(down)


def origins(graphs: Graphs) -> DataFrame:
    """tenant, tag, id: the assets that state a tag which propagates."""
    stated = graphs.assets.select("tenant", "id", F.explode("stated").alias("tag"))
    return stated.join(F.broadcast(graphs.definitions), ["tenant", "tag"], "left_semi").select(*TAGGED)


def blocked(graphs: Graphs, stated: DataFrame) -> DataFrame:
    """tenant, tag, id, content: the assets that do not pass the tag on, although it may have reached them. One that
    states the tag passes on that, and no influence."""
    suppressed = graphs.assets.select("tenant", "id", F.explode(F.array_except("suppressed", "stated")).alias("tag"))
    cut = graphs.assets.where("cut").select("tenant", "id")
    stopped = suppressed.select(*TAGGED).union(cut.join(F.broadcast(graphs.definitions), "tenant").select(*TAGGED))
    either = F.explode(F.array(F.lit(True), F.lit(False))).alias("content")
    follows = graphs.definitions.where(F.array_contains("edge_types", INFLUENCES))
    origins = stated.join(F.broadcast(follows), ["tenant", "tag"], "left_semi").select(*TAGGED, F.lit(False))
    return stopped.select(*TAGGED, either).union(origins).distinct()


def offers(tagged: DataFrame, steps: DataFrame, definitions: DataFrame) -> DataFrame:
    """tenant, tag, id, kind, via, depth: what the tagged assets (tenant, tag, id, content, depth) offer to their
    neighbours."""
    along = tagged.join(definitions, ["tenant", "tag"]).join(steps, ["tenant", "id"])
    influenced = (F.col("kind") == "propagated") & (~F.col("content") | (F.col("type") == INFLUENCES))
    return along.where(_passes()).select(
        "tenant", "tag", F.col("to_id").alias("id"),
        F.when(influenced, "influenced").otherwise(F.col("kind")).alias("kind"), F.col("id").alias("via"),
        (F.col("depth") + (F.col("kind") == "propagated").cast("int")).alias("depth"),
    )  # fmt: skip


def _passes() -> Column:
    """As `lily.lineage.graph.Edge.passes`. The hierarchy passes every tag that is content, and does not count as an
    edge."""
    named = F.array_contains("edge_types", F.col("type"))
    type_passes = F.when(F.col("edge_types").isNull(), F.col("type") != INFLUENCES).otherwise(named)
    near = F.col("max_depth").isNull() | (F.col("depth") < F.col("max_depth"))
    edge = (F.col("direction") != F.col("but")) & ~(F.col("masking") & F.col("stopped_by_masking")) & type_passes & near
    return F.when(F.col("kind") == "inherited", F.col("content")).otherwise(edge)


def distances(
    stated: DataFrame, stopped: DataFrame, steps: DataFrame, definitions: DataFrame, progress: Progress
) -> DataFrame:
    """tenant, tag, id, content, depth: for every asset that has a tag, stated or derived, the fewest edges to an
    origin.

    A path with fewer edges may have more steps, down a hierarchy, and be found in a later round: then the asset offers
    the tag again.
    """
    first = stated.select(*TAGGED, F.lit(True).alias("content"), F.lit(0).alias("depth"), F.lit(0).alias("round"))
    found, number = first.localCheckpoint(), 0
    frontier = found
    while count := frontier.count():
        progress("reached", count)
        number += 1
        offered = offers(frontier.join(stopped, PLACE, "left_anti"), steps, definitions)
        content = (F.col("kind") != "influenced").alias("content")
        offered = offered.select(*TAGGED, content, "depth", F.lit(number).alias("round"))
        # The nearest offer, and of equally near ones the earliest. The checkpoint cuts the lineage of the DataFrame, or
        # every round would repeat the work of all earlier ones.
        nearest = found.union(offered).groupBy(*PLACE).agg(F.min(F.struct("depth", "round")).alias("nearest"))
        found = nearest.select(*PLACE, "nearest.depth", "nearest.round").localCheckpoint()
        frontier = found.where(F.col("round") == number)
    return found.drop("round")
