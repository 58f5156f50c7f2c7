"""The propagation query: reads the change log, marks what is dirty, and lets the stored graph follow.

An event says only *that* something changed; what follows is worked out from committed state. So the order of the
events does not matter, a repeated one changes nothing, and one that tells of a plain change is dropped by its headers
alone, inside Spark.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses
from pyspark.sql.streaming.query import StreamingQuery

from lily.bus import topics
from lily.model.assets import DELETED, PARENT_ID, SUPPRESSED, fold_tag
from lily.model.layers import TAGS
from lily.observe.traces import tracer
from lily.pipeline.offsets import Offsets
from lily.store.postgres.propagation.marks import AssetMark, EdgeMark, Marks

READ = (topics.METADATA, topics.LINEAGE, topics.POLICIES)
_CONCERNING = rf"(^|,)({TAGS}|\{PARENT_ID}|\{DELETED}|\{SUPPRESSED}[^,]*)(,|$)"

_CONCERNS_TAGS = re.compile(_CONCERNING)
_HEADERS = ("correlation", "position", "from", "kind", "name", "changed", "layer")

Attributes = Mapping[str, frozenset[str]]  # by tenant, those that rules name


def start(
    spark: SparkSession,
    *,
    bootstrap: str,
    starting_offsets: str,
    checkpoint: str,
    trigger_ms: int,
    batch_events: int,
    attributes: Callable[[], Attributes],
    apply: Callable[[dict[str, Marks], Offsets], None],
) -> StreamingQuery:
    """Starts the query at the given offsets. `attributes` tells what rules are about, `apply` gets the marks of each
    tenant, and how far the log was read; what they raise ends the query."""

    def follow(batch: DataFrame, _: int) -> None:
        with tracer.start_as_current_span("propagation.batch"):
            # Asked for after the batch was read: all that it tells of was committed before. A rule that comes later
            # looks at everything that is committed then, so nothing that is dropped here is missed.
            named = attributes()
            records = batch.select(*_columns(named)).toArrow()
            apply(marks_of(records, named), ends_of(records))

    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", ",".join(READ))
        .option("startingOffsets", starting_offsets)
        .option("maxOffsetsPerTrigger", batch_events)
        .option("failOnDataLoss", "true")
        .option("includeHeaders", "true")
        .option("kafka.fetch.max.wait.ms", "50")
        .load()
        .select("topic", "partition", "offset", "key", *(_header(name).alias(name) for name in _HEADERS))
        .writeStream.queryName("propagation")
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime=f"{trigger_ms} milliseconds")
        .foreachBatch(follow)
        .start()
    )


def _columns(named: Attributes) -> list[Column]:
    """Without the event's body: what is needed stands in its key and its headers. What concerns nobody has no key."""
    concerns = (F.col("topic") != topics.METADATA) | F.col("changed").rlike(_CONCERNING)
    if named:
        # No attribute of a rule has a comma in its name. One literal, however many there are: the plan stays small.
        ours = F.split(F.lit(",".join(sorted(set().union(*named.values())))), ",")
        told = F.coalesce(F.col("layer"), F.lit("")) != "enriched"  # what rules state concerns no rule
        concerns |= told & F.arrays_overlap(F.split("changed", ","), ours)
    key = F.when(F.coalesce(concerns, F.lit(False)), F.col("key").cast("string"))
    return [F.col("topic"), F.col("partition"), F.col("offset"), key.alias("key"), *map(F.col, _HEADERS)]


def _header(name: str) -> Column:
    """A header's value; null where there is none."""
    return F.expr(f"cast(get(filter(headers, h -> h.key = '{name}'), 0).value as string)")


def ends_of(records: pa.Table) -> Offsets:
    """The next offset of each partition that the batch read from."""
    found = records.group_by(["topic", "partition"]).aggregate([("offset", "max")]).to_pylist()
    return {(row["topic"], row["partition"]): row["offset_max"] + 1 for row in found}


def marks_of(records: pa.Table, named: Attributes) -> dict[str, Marks]:
    """What is dirty in each tenant."""
    found: defaultdict[str, Marks] = defaultdict(Marks)
    for row in _concerning(records):
        tenant, _, entity = row["key"].partition("/")
        position, correlation, marks = int(row["position"] or 0), row["correlation"] or "", found[tenant]
        if row["topic"] == topics.METADATA:
            mark = _mark(entity, row["changed"], row["layer"], named.get(tenant, frozenset()))
            if mark.tags or mark.attributes:
                marks.assets.append(mark._replace(position=position, correlation=correlation))
        elif row["topic"] == topics.LINEAGE:
            if row["from"]:
                marks.edges.append(EdgeMark(row["from"], entity, position, correlation))
        elif row["kind"] == "tag" and row["name"]:
            marks.tags.add(fold_tag(row["name"]))
        elif row["kind"] == "rule" and row["name"]:
            marks.rules.add(fold_tag(row["name"]))
        elif row["kind"] == "setting":
            marks.deletion = True
    return {tenant: marks for tenant, marks in found.items() if marks.any}


def _mark(asset: str, changed: str, layer: str | None, named: frozenset[str]) -> AssetMark:
    """Whether an asset is deleted is part of every statement of a source, so one that has just come is marked too."""
    tags = _CONCERNS_TAGS.search(changed) is not None
    fields = set(changed.split(","))
    attributes = named if DELETED in fields else named & fields if layer != "enriched" else frozenset[str]()
    return AssetMark(asset, tags=tags, attributes=attributes)


def _concerning(records: pa.Table) -> Iterator[dict[str, str]]:
    yield from records.filter(pc.is_valid(records["key"])).to_pylist()
