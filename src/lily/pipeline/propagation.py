"""The propagation query: reads the change log, marks what is dirty, and lets the stored graph follow.

An event says only *that* something changed; what follows is worked out from committed state. So the order of the
events does not matter, a repeated one changes nothing, and one that tells of a plain change is dropped by its header
alone, inside Spark.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator

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
from lily.store.postgres.propagation import AssetMark, EdgeMark, Marks, Outcome

READ = (topics.METADATA, topics.LINEAGE, topics.POLICIES)
_CONCERNING = rf"(^|,)({TAGS}|\{PARENT_ID}|\{DELETED}|\{SUPPRESSED}[^,]*)(,|$)"

Propagate = Callable[[str, Marks], Outcome]


def start(
    spark: SparkSession,
    *,
    bootstrap: str,
    starting_offsets: str,
    checkpoint: str,
    trigger_ms: int,
    batch_events: int,
    apply: Callable[[dict[str, Marks], Offsets], None],
) -> StreamingQuery:
    """Starts the query at the given offsets. `apply` gets the marks of each tenant, and how far the log was read; what
    it raises ends the query."""

    def follow(batch: DataFrame, _: int) -> None:
        with tracer.start_as_current_span("propagation.batch"):
            records = batch.toArrow()
            apply(marks_of(records), ends_of(records))

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
        .select(*_columns())
        .writeStream.queryName("propagation")
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime=f"{trigger_ms} milliseconds")
        .foreachBatch(follow)
        .start()
    )


def _columns() -> list[Column]:
    """Without the event's body: what is needed stands in its key and its headers."""
    concerns = (F.col("topic") != topics.METADATA) | _header("changed").rlike(_CONCERNING)
    key = F.when(F.coalesce(concerns, F.lit(False)), F.col("key").cast("string"))
    return [
        F.col("topic"),
        F.col("partition"),
        F.col("offset"),
        key.alias("key"),
        *(_header(name).alias(name) for name in ("position", "from", "kind", "name")),
    ]


def _header(name: str) -> Column:
    """A header's value; null where there is none."""
    return F.expr(f"cast(get(filter(headers, h -> h.key = '{name}'), 0).value as string)")


def ends_of(records: pa.Table) -> Offsets:
    """The next offset of each partition that the batch read from."""
    found = records.group_by(["topic", "partition"]).aggregate([("offset", "max")]).to_pylist()
    return {(row["topic"], row["partition"]): row["offset_max"] + 1 for row in found}


def marks_of(records: pa.Table) -> dict[str, Marks]:
    """What is dirty in each tenant."""
    found: defaultdict[str, Marks] = defaultdict(Marks)
    for row in _concerning(records):
        tenant, _, entity = row["key"].partition("/")
        position, marks = int(row["position"] or 0), found[tenant]
        if row["topic"] == topics.METADATA:
            marks.assets.append(AssetMark(entity, position))
        elif row["topic"] == topics.LINEAGE:
            if row["from"]:
                marks.edges.append(EdgeMark(row["from"], entity, position))
        elif row["kind"] == "tag" and row["name"]:
            marks.tags.add(fold_tag(row["name"]))
        elif row["kind"] == "setting":
            marks.deletion = True
    return dict(found)


def _concerning(records: pa.Table) -> Iterator[dict[str, str]]:
    yield from records.filter(pc.is_valid(records["key"])).to_pylist()


def timed(propagate: Propagate, tenant: str, marks: Marks) -> tuple[Outcome, float]:
    began = time.monotonic()
    return propagate(tenant, marks), time.monotonic() - began
