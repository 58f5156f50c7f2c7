"""Compaction: joins the runs of `assets`, and keeps both tables tidy, beside the stream and never in its way.

Runs of like size are joined once there are enough of them, so a row is rewritten a few times only, however large the
table grows, and a look-up finds few runs. A commit here replaces runs that no batch writes to any more; batches append
new ones. So the two never conflict, and a compaction that dies leaves everything as it was.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

from lily.model.states import merge_states
from lily.pipeline.lake.iceberg import LakeTable
from lily.pipeline.lake.stream import NICENESS
from lily.pipeline.session import worker_niceness
from lily.settings import Lake
from lily.store.lake import tables
from lily.store.lake.rows import STATE_SCHEMA, read_states, states_to_batch

STATE_DDL = ", ".join(f"{field.name} {'bigint' if field.type == pa.int64() else 'string'}" for field in STATE_SCHEMA)
PATIENT_RUNS = 3  # times as many runs as are joined: what a look-up bears for the time of a flood
LEAST_ROWS = 20_000  # runs below this are of one size
FILE_ROWS = 500  # a file costs as much as so many rows: a run of many small tenants is a large one
_log = structlog.get_logger()


class Compaction:
    """A thread that works when there is something to do. A failure is told, and tried again at the next occasion."""

    def __init__(
        self, spark: SparkSession, settings: Lake, stop: threading.Event, last_batch: Callable[[], int]
    ) -> None:
        self._spark, self._settings, self._stop, self._last_batch = spark, settings, stop, last_batch
        self._done = last_batch()
        self._maintained = time.monotonic()
        self._thread: threading.Thread | None = None

    def go_on(self, is_quiet: Callable[[], bool]) -> None:
        """Starts the work if a batch was written since and none is under way. While events wait to be written it only
        starts when so many batches have come that look-ups would suffer: there is time for it afterwards."""
        waiting = self._last_batch() - self._done
        if waiting == 0 or (self._thread is not None and self._thread.is_alive()):
            return
        if waiting > PATIENT_RUNS * self._settings.merge_runs or is_quiet():
            self._done = self._last_batch()
            self._thread = threading.Thread(target=self._work, name="compaction", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Waits for what is under way; a job of a stopped session ends by itself."""
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _work(self) -> None:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", "lake")
        try:
            for runs in due(self._finished(), self._settings.merge_runs):
                if self._stop.is_set():
                    return
                began = time.monotonic()
                compact(self._spark, runs)
                _log.info("compacted", query="lake", runs=len(runs), seconds=round(time.monotonic() - began, 2))
            if time.monotonic() - self._maintained > self._settings.maintain_minutes * 60:
                self._maintained = time.monotonic()
                maintain(self._spark, timedelta(hours=self._settings.keep_hours))
        except (PySparkException, Py4JError) as error:
            _log.warning("compaction failed, the next one tries again", query="lake", error=str(error)[:500])

    def _finished(self) -> dict[int, int]:
        """A batch that fails between its two writes is written again, with more in it, under the same number: if that
        run were replaced meanwhile, what came with the second writing would be lost."""
        return {run: rows for run, rows in sizes(self._spark).items() if run <= self._done}


def sizes(spark: SparkSession) -> dict[int, int]:
    """What it costs to write each run, counted in rows."""
    files = spark.table(f"{tables.identifier(tables.ASSETS)}.files")
    size = F.sum(F.col("record_count") + FILE_ROWS)
    rows = files.groupBy(F.col("partition.run").alias("run")).agg(size.alias("size")).collect()
    return {row["run"]: row["size"] for row in rows}


def due(sizes: dict[int, int], enough: int) -> list[list[int]]:
    """The runs to join: those of like size, where there are enough of them, smallest first."""
    levels: defaultdict[int, list[int]] = defaultdict(list)
    for run, rows in sizes.items():
        level, bound = 0, LEAST_ROWS
        while rows > bound:
            level, bound = level + 1, bound * enough
        levels[level].append(run)
    return [sorted(runs) for _, runs in sorted(levels.items()) if len(runs) >= enough]


def compact(spark: SparkSession, runs: Sequence[int]) -> None:
    """Replaces runs by one, with one row an asset."""
    chosen = F.col("run").isin(list(runs))
    rows = spark.table(tables.identifier(tables.ASSETS)).where(chosen).select(*STATE_SCHEMA.names)
    buckets = LakeTable(spark, tables.ASSETS).target().buckets
    bucket = F.expr(f"{tables.CATALOG}.system.bucket({buckets}, place)")
    together = rows.repartition("tenant", bucket).sortWithinPartitions("tenant", bucket, "id")
    with worker_niceness(spark, NICENESS):
        whole = together.mapInArrow(partial(join_sorted, run=max(runs)), STATE_DDL)
    (
        whole.writeTo(tables.identifier(tables.ASSETS))
        # What comes out lies together already, bucket after bucket: one file is open at a time, however many tenants.
        .option("distribution-mode", "none")
        .option("fanout-enabled", "false")
        .overwrite(chosen)
    )


def join_sorted(batches: Iterable[pa.RecordBatch], run: int) -> Iterator[pa.RecordBatch]:
    """Joins neighbours that are one asset. Rows that stand alone, nearly all of them, pass as they are."""
    rest: pa.Table | None = None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        table = pa.Table.from_batches([batch]).select(STATE_SCHEMA.names).cast(STATE_SCHEMA)
        table = table if rest is None else pa.concat_tables([rest, table]).combine_chunks()
        # The last asset may go on in the next batch.
        last = table.column("id")[-1].as_py()
        at = pc.index(table.column("id"), last).as_py()
        rest = table.slice(at)
        yield from _joined(table.slice(0, at), run)
    if rest is not None:
        yield from _joined(rest, run)


def _joined(table: pa.Table, run: int) -> Iterator[pa.RecordBatch]:
    if table.num_rows == 0:
        return
    ids = table.column("id").combine_chunks()
    same = pc.equal(ids.slice(1), ids.slice(0, len(ids) - 1)) if len(ids) > 1 else pa.array([], pa.bool_())
    edge = pa.array([False])
    follows = _chain(edge, same)
    repeated = pc.or_(follows, _chain(same, edge))
    rows = _in_run(table.filter(pc.invert(repeated)), run)
    if pc.any(repeated).as_py():
        states = merge_states(read_states(table.filter(repeated))).values()
        rows = pa.concat_tables([rows, pa.Table.from_batches([states_to_batch(states, run)])])
        # Each goes where its first piece was.
        places = pa.array(range(len(ids)))
        alone, first = places.filter(pc.invert(repeated)), places.filter(pc.and_(repeated, pc.invert(follows)))
        rows = rows.take(pc.sort_indices(pa.concat_arrays([alone, first])))
    yield from rows.combine_chunks().to_batches()


def _chain(*parts: pa.Array | pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays([part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part for part in parts])


def _in_run(table: pa.Table, run: int) -> pa.Table:
    numbers = pa.array([run] * table.num_rows, pa.int64())
    return table.set_column(STATE_SCHEMA.get_field_index("run"), STATE_SCHEMA.field("run"), numbers)


def maintain(spark: SparkSession, keep: timedelta) -> None:
    """Joins small files of `events`, lets go of old snapshots, and of files that no snapshot names."""
    began = time.monotonic()
    events, assets = (f"{tables.NAMESPACE}.{table}" for table in (tables.EVENTS, tables.ASSETS))
    spark.sql(
        f"call {tables.CATALOG}.system.rewrite_data_files(table => '{events}', strategy => 'sort', "
        "sort_order => 'tenant asc, id asc', options => map('min-input-files', '8', "
        "'partial-progress.enabled', 'true', 'max-concurrent-file-group-rewrites', '1'))"
    )
    for table in (events, assets):
        older = _at(min(datetime.now(UTC) - keep, _positioned(spark)))
        spark.sql(f"call {tables.CATALOG}.system.expire_snapshots(table => '{table}', older_than => {older})")
        # A file of a batch that is being written belongs to no snapshot yet; none takes a day.
        orphaned = _at(datetime.now(UTC) - max(keep, timedelta(days=1)))
        # Listed by what reads and writes the table: Hadoop, which is asked otherwise, knows no `s3://`.
        spark.sql(
            f"call {tables.CATALOG}.system.remove_orphan_files(table => '{table}', older_than => {orphaned}, "
            "prefix_listing => true)"
        )
    _log.info("maintained", query="lake", seconds=round(time.monotonic() - began, 2))


def _positioned(spark: SparkSession) -> datetime:
    """When the newest commit that names its positions was made: it must stay, for the query starts from it."""
    snapshots = spark.table(f"{tables.identifier(tables.EVENTS)}.snapshots")
    (newest,) = snapshots.where(F.col("summary")[tables.BATCH_PROPERTY].isNotNull()).agg(
        F.max("committed_at")
    ).first() or (None,)
    return newest.astimezone(UTC) if newest is not None else datetime.now(UTC)


def _at(moment: datetime) -> str:
    return f"timestamp '{moment:%Y-%m-%d %H:%M:%S.%f}'"
