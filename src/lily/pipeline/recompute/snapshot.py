"""Reads the graphs from PostgreSQL to DataFrames, in parallel by ranges of ids, all in one exported snapshot.

It uses JDBC instead of psycopg in the tasks, so the rows never pass through a Python worker.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

from psycopg import Connection, IsolationLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name the whole field uses

from lily.pipeline.recompute.tag_recomputation import Graphs
from lily.store.lake.catalog import jdbc_address
from lily.store.postgres.connection import connect
from lily.store.postgres.propagation.propagator import PROPAGATION
from lily.store.postgres.queries import query

QUIET_SECONDS = 20.0  # how long to wait for a moment at which propagation has caught up


@dataclass(frozen=True, slots=True)
class Snapshot:
    graphs: Graphs
    derived: DataFrame  # tenant, tag, id, kind, via, depth
    behind: bool  # whether propagation had not caught up with the commits


def read_snapshot(spark: SparkSession, database_url: str, tenant: str | None, timeout: float) -> Snapshot:
    """Reads everything before it returns, so that the snapshot does not block VACUUM for long."""
    with _exported_snapshot(database_url, timeout) as (snapshot, behind):
        reader = _Reader(spark, database_url, snapshot, tenant)
        graphs = Graphs(
            definitions=reader.read("recompute/tag_definitions", parallel=False),
            edges=reader.read("recompute/edges"),
            assets=reader.read("recompute/assets"),
            nodes=reader.read("recompute/graph_nodes"),
            held_parents=reader.read("recompute/held_parents"),
        )
        return Snapshot(graphs, reader.read("recompute/derived_tags"), behind)


@contextmanager
def _exported_snapshot(database_url: str, timeout: float) -> Iterator[tuple[str, bool]]:
    """The name of a snapshot that is valid within the block, and whether propagation was behind at that time."""
    with connect(database_url, "lily-recompute") as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and _is_behind(connection):
            time.sleep(0.2)
        with connection.transaction():
            behind = _is_behind(connection)
            yield connection.execute("select pg_export_snapshot()").fetchall()[0][0], behind


def _is_behind(connection: Connection[Any]) -> bool:
    return bool(connection.execute(query("recompute/is_behind"), {"reaction": PROPAGATION}).fetchall()[0][0])


class _Reader:
    def __init__(self, spark: SparkSession, database_url: str, snapshot: str, tenant: str | None) -> None:
        self._spark, self._tenant = spark, tenant
        self._ranges = _ranges(2 * spark.sparkContext.defaultParallelism)
        url = urlsplit(database_url)
        self._address = jdbc_address(database_url)
        self._properties = {
            "driver": "org.postgresql.Driver",
            "user": unquote(url.username or ""),
            "password": unquote(url.password or ""),
            "ApplicationName": "lily-recompute",
            "fetchsize": "10000",  # makes the driver read in a transaction, which sessionInitStatement configures
            "sessionInitStatement": "set transaction isolation level repeatable read read only; "
            f"set transaction snapshot '{snapshot}'",
        }

    def read(self, name: str, *, parallel: bool = True) -> DataFrame:
        rows = self._spark.read.jdbc(
            self._address, f"({query(name)}) as rows", predicates=self._ranges if parallel else ["true"],
            properties=self._properties,
        )  # fmt: skip
        selected = rows if self._tenant is None else rows.where(F.col("tenant") == self._tenant)
        return selected.localCheckpoint()


def _ranges(count: int) -> list[str]:
    """Conditions that divide a table into ranges of ids. They have equal sizes, because ids are hashes."""
    starts = [f"'{(number << 32) // count:08x}-0000-0000-0000-000000000000'::uuid" for number in range(count)]
    between = [f"id >= {start} and id < {end}" for start, end in pairwise(starts)]
    return [*between, f"id >= {starts[-1]}"]
