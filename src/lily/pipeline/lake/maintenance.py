"""Maintenance of the lake's tables: small files, old snapshots, orphan files."""

import time
from datetime import UTC, datetime, timedelta

import structlog
from pyspark.sql import SparkSession

from lily.pipeline.lake.commits import last_committed_at
from lily.store.lake import tables

_log = structlog.get_logger()


def maintain(spark: SparkSession, keep: timedelta) -> None:
    """Rewrites small files of `events`, expires old snapshots, and deletes files that belong to no snapshot."""
    began = time.monotonic()
    events, assets = (f"{tables.NAMESPACE}.{table}" for table in (tables.EVENTS, tables.ASSETS))
    spark.sql(
        f"call {tables.CATALOG}.system.rewrite_data_files(table => '{events}', strategy => 'sort', "
        "sort_order => 'tenant asc, id asc', options => map('min-input-files', '8', "
        "'partial-progress.enabled', 'true', 'max-concurrent-file-group-rewrites', '1'))"
    )
    for table in (events, assets):
        now = datetime.now(UTC)
        # The query starts from the newest commit with offsets, so that snapshot must stay.
        older = _timestamp(min(now - keep, last_committed_at(spark) or now))
        spark.sql(f"call {tables.CATALOG}.system.expire_snapshots(table => '{table}', older_than => {older})")
        # The files of a batch in progress belong to no snapshot yet. No batch takes a day.
        orphaned = _timestamp(datetime.now(UTC) - max(keep, timedelta(days=1)))
        # Lists with the table's own file IO: the default, Hadoop's, does not support `s3://`.
        spark.sql(
            f"call {tables.CATALOG}.system.remove_orphan_files(table => '{table}', older_than => {orphaned}, "
            "prefix_listing => true)"
        )
    _log.info("maintained", query="lake", seconds=round(time.monotonic() - began, 2))


def _timestamp(moment: datetime) -> str:
    return f"timestamp '{moment:%Y-%m-%d %H:%M:%S.%f}'"
