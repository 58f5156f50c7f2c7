"""The other side of the hot lane: the same rows straight into the same PostgreSQL, with nothing else around them.

A plain table with a column a field and the clock beside them. `merge` is the least that could be done in bulk: COPY of
ready-made text into a staging table, one newest-wins INSERT … ON CONFLICT, one commit a batch. `commit_each` is what a
plain service does: a prepared upsert and a commit for every row.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg

from bench.events import ABOUT, OWNER, SOURCE, TENANT, Asset
from lily.model import clock, ids

BATCH = 20_000  # what one task of the pipeline commits at once: 40,000 events a micro-batch over two partitions

_TABLE = """
create schema if not exists bench;
create table if not exists bench.bare (
  tenant_id text, id uuid, qualified_name text, entity_type text, name text, description text, owner text,
  data_source text, parent text, clock text collate "C", primary key (tenant_id, id)
) with (fillfactor = 80)
"""
_STAGE = "create temporary table staged (like bench.bare) on commit delete rows"
# The planner knows nothing about a temporary table; the pipeline's own connection has the same settings.
_SETTINGS = "set enable_seqscan = off; set enable_hashjoin = off; set work_mem = '64MB'; set temp_buffers = '64MB'"
_NEWEST_WINS = """
on conflict (tenant_id, id) do update set
  entity_type = excluded.entity_type, name = excluded.name, description = excluded.description,
  owner = excluded.owner, data_source = excluded.data_source, parent = excluded.parent, clock = excluded.clock
where excluded.clock > bare.clock
"""
_MERGE = f"insert into bench.bare select * from staged order by tenant_id, id {_NEWEST_WINS}"  # noqa: S608 - constants
_UPSERT = f"insert into bench.bare values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) {_NEWEST_WINS}"  # noqa: S608

Row = tuple[str, ...]


class Bare:
    """The bare table. Rates are rows a second from the first byte sent to the last commit."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        with psycopg.connect(database_url) as connection:
            connection.execute(_TABLE)

    def drop(self) -> None:
        with psycopg.connect(self._url) as connection:
            connection.execute("drop schema bench cascade")

    def merge(self, rows: Sequence[Row], connections: int = 1) -> float:
        """The rate of COPY + merge over so many connections at a time, each with its share of the rows."""
        shares = [_copy_batches(rows[share::connections]) for share in range(connections)]
        with ThreadPoolExecutor(connections) as pool, _sessions(self._url, connections) as sessions:
            began = time.perf_counter()
            list(pool.map(_merge_batches, sessions, shares))
            return len(rows) / (time.perf_counter() - began)

    def commit_each(self, rows: Sequence[Row]) -> float:
        with _sessions(self._url, 1) as (session,):
            cursor = session.cursor()
            cursor.execute(_UPSERT, rows[0], prepare=True)
            began = time.perf_counter()
            for row in rows:
                cursor.execute(_UPSERT, row, prepare=True)
            return len(rows) / (time.perf_counter() - began)


def fresh_rows(assets: Sequence[Asset]) -> list[Row]:
    """A new statement about each asset, later than every one before."""
    now, serial = clock.now(), time.time_ns() // 1000
    return [
        (
            *(TENANT, of.id, of.qualified_name, "table", of.name, ABOUT.format(f"{serial + step:016x}")),
            *(OWNER, SOURCE, of.parent, clock.clock(now, ids.event_id())),
        )
        for step, of in enumerate(assets)
    ]


def _copy_batches(rows: Sequence[Row]) -> list[bytes]:
    """COPY's text, made ahead: the comparison is with PostgreSQL's work alone."""
    return [
        "".join("\t".join(row) + "\n" for row in rows[start : start + BATCH]).encode()
        for start in range(0, len(rows), BATCH)
    ]


def _merge_batches(session: "psycopg.Connection[tuple[object, ...]]", batches: list[bytes]) -> None:
    for text in batches:
        with session.transaction():
            with session.cursor().copy("copy staged from stdin") as copy:
                copy.write(text)
            session.execute(_MERGE)


@contextmanager
def _sessions(url: str, count: int) -> "Iterator[list[psycopg.Connection[tuple[object, ...]]]]":
    sessions = [psycopg.connect(url, autocommit=True, application_name="bench-bare") for _ in range(count)]
    try:
        for session in sessions:
            session.execute(_SETTINGS)
            session.execute(_STAGE)
        yield sessions
    finally:
        for session in sessions:
            session.close()
