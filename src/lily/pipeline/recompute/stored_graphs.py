"""The graphs of PostgreSQL as DataFrames: read in parallel by ranges of ids, all of one moment.

Through JDBC and not through psycopg in the tasks: the rows become columns inside the JVM, without a Python worker.
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

from lily.pipeline.recompute.derived_tags import Graphs
from lily.store.lake.catalog import jdbc_address
from lily.store.postgres.connection import connect
from lily.store.postgres.propagation.propagator import PROPAGATION
from lily.store.postgres.queries import query

QUIET_SECONDS = 20.0  # how long to look for a moment at which nothing is on its way


@dataclass(frozen=True, slots=True)
class Stored:
    graphs: Graphs
    derived: DataFrame  # tenant, tag, id, kind, via, depth
    behind: bool  # whether propagation had still to follow something that was committed


def read_stored(spark: SparkSession, database_url: str, tenant: str | None, patience: float) -> Stored:
    """All of it is read before this returns, so that no snapshot holds up the cleaning of tables for long."""
    with _moment(database_url, patience) as (snapshot, behind):
        reader = _Reader(spark, database_url, snapshot, tenant)
        graphs = Graphs(
            definitions=reader.read("recompute/tag_definitions", spread=False),
            edges=reader.read("recompute/edges"),
            assets=reader.read("recompute/assets"),
            nodes=reader.read("recompute/graph_nodes"),
        )
        return Stored(graphs, reader.read("recompute/derived_tags"), behind)


@contextmanager
def _moment(database_url: str, patience: float) -> Iterator[tuple[str, bool]]:
    """The name of a snapshot that lives as long as the block, and whether propagation was behind at it."""
    with connect(database_url, "lily-recompute") as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        deadline = time.monotonic() + patience
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
            "fetchsize": "10000",  # with it the driver reads in a transaction, which the next line begins
            "sessionInitStatement": "set transaction isolation level repeatable read read only; "
            f"set transaction snapshot '{snapshot}'",
        }

    def read(self, name: str, *, spread: bool = True) -> DataFrame:
        rows = self._spark.read.jdbc(
            self._address, f"({query(name)}) as rows", predicates=self._ranges if spread else ["true"],
            properties=self._properties,
        )  # fmt: skip
        wanted = rows if self._tenant is None else rows.where(F.col("tenant") == self._tenant)
        return wanted.localCheckpoint()


def _ranges(count: int) -> list[str]:
    """So many queries read a table, each its range of ids: of equal size, because ids are hashes."""
    starts = [f"'{(number << 32) // count:08x}-0000-0000-0000-000000000000'::uuid" for number in range(count)]
    between = [f"id >= {start} and id < {end}" for start, end in pairwise(starts)]
    return [*between, f"id >= {starts[-1]}"]
