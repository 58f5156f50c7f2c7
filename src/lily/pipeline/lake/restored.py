"""Brings PostgreSQL and the lake in line with each other, if one of them was restored from a backup.

It runs when the lake query starts and has the lock, so nothing else writes the lake. Without a restore it finds nothing
to do, or what a process that died between two steps left.
"""

from collections.abc import Mapping
from itertools import islice

import structlog
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

from lily.bus import topics
from lily.model.lanes import BULK_TYPES
from lily.pipeline.lake.commits import Commit
from lily.store.lake import tables
from lily.store.lake.metadata_files import newest_metadata
from lily.store.postgres.lake.commits import LakeLedger

ASSETS_AT_ONCE = 10_000
_log = structlog.get_logger()


def adopt_newest_metadata(ledger: LakeLedger, properties: Mapping[str, str]) -> None:
    """Lets the catalog name the newest metadata of each table. Before Spark loads the tables."""
    for table, location in ledger.metadata_locations().items():
        newest = newest_metadata(location, properties)
        if newest != location:
            ledger.set_metadata_location(table, location, newest)
            _log.warning("the catalog named other metadata than the newest", table=table, was=location, now=newest)


def align(spark: SparkSession, ledger: LakeLedger, last: Commit) -> None:
    """Lets PostgreSQL agree with the lake about its last commit."""
    recorded = ledger.last_batch()
    if recorded > last.number:
        ledger.withdraw(last.number, last.began, last.next_offsets, advances=topics.ASSETS_BULK)
        _log.warning("the lake is older than was recorded, and reads the log again", batch=last.number, was=recorded)
    elif recorded < last.number:
        marked = _await_promotion(spark, ledger, recorded)
        ledger.forget_parents()
        _log.warning("batches of the lake were not recorded", batch=last.number, was=recorded, assets=marked)


def list_parents(spark: SparkSession, ledger: LakeLedger) -> None:
    """Lists the names below which the lake has columns, if PostgreSQL may lack some: after an upgrade or a restore.
    Until then everything new waits for a look into the lake."""
    if not ledger.lacks_parents():
        return
    columns = spark.table(tables.identifier(tables.ASSETS)).where(F.col("entity_type").isin(*BULK_TYPES))
    above = F.regexp_extract("qualified_name", r"(?s)^(.+)[./]", 1).alias("above")
    rows = columns.select("tenant", above).where(F.col("above") != "").distinct().toLocalIterator()
    listed = 0
    while some := list(islice(rows, ASSETS_AT_ONCE)):
        ledger.add_parents((row["tenant"], row["above"]) for row in some)
        listed += len(some)
    ledger.parents_are_complete()
    _log.info("listed the names below which the lake has columns", names=listed)


def _await_promotion(spark: SparkSession, ledger: LakeLedger, recorded: int) -> int:
    """What the tasks of those batches merged into PostgreSQL may not be there, so it is promoted again."""
    stated = spark.table(tables.identifier(tables.EVENTS)).where(F.col("batch") > recorded)
    rows = stated.where(F.col("topic") == topics.ASSETS_BULK).select("tenant", "id").distinct().toLocalIterator()
    marked = 0
    while some := list(islice(rows, ASSETS_AT_ONCE)):
        marked += ledger.await_promotion([(row["tenant"], row["id"]) for row in some])
    return marked
