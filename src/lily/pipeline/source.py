"""The log as a streaming DataFrame, and the start of a query over it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lily.brokers import Brokers
from lily.bus.grants import GROUPS
from lily.model.records import Partition
from lily.pipeline.offsets import offsets_to_json

RECORD_COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "value")


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """The query fails if Kafka has deleted records that it has not read: it never skips events silently."""

    brokers: Brokers
    topics: Sequence[str]
    starting_offsets: Mapping[Partition, int]
    batch_events: int  # per micro-batch, at most
    options: Mapping[str, str] = field(default_factory=dict)  # of the consumer

    def records(self, spark: SparkSession) -> DataFrame:
        return (
            spark.readStream.format("kafka")
            .options(**self.brokers.spark_options())
            .option("groupIdPrefix", f"{GROUPS}pipeline")
            .option("subscribe", ",".join(self.topics))
            .option("startingOffsets", offsets_to_json(self.starting_offsets))
            .option("maxOffsetsPerTrigger", self.batch_events)
            .option("failOnDataLoss", "true")
            .options(**self.options)
            .load()
            .select(*RECORD_COLUMNS)
        )


def start_query(
    name: str, records: DataFrame, process: Callable[[DataFrame], None], *, checkpoint: Path, trigger_ms: int
) -> StreamingQuery:
    """Calls `process` with one micro-batch after the other. The query ends only by failing or by being stopped."""
    return (
        records.writeStream.queryName(name)
        .option("checkpointLocation", str(checkpoint))
        .trigger(processingTime=f"{trigger_ms} milliseconds")
        .foreachBatch(lambda batch, _: process(batch))
        .start()
    )
