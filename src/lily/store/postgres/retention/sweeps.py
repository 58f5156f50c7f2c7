"""One step of a sweep: looks at the next rows of a table and deletes those that are old and not needed."""

from datetime import timedelta
from typing import Any, Literal, NamedTuple

from psycopg import Connection

from lily.store.postgres.queries import query

Table = Literal[
    "changes", "edge_changes", "propagated", "decisions", "propagations", "dead_letters", "lake_batches", "incidents"
]
AT_ONCE = 5_000  # rows that a step looks at: its transaction takes some tens of milliseconds


class Place(NamedTuple):
    """Where a step begins: after this row, in the order of the index by which the table is read."""

    batch: int = 0
    position: int = 0


START = Place()


class Step(NamedTuple):
    deleted: int
    next: Place | None  # None: no row that it looked at was old, and later ones are younger


def sweep(
    connection: Connection[Any], table: Table, keep: timedelta, place: Place = START, at_once: int = AT_ONCE
) -> Step:
    """Of all tenants, in the caller's transaction. What was skipped because it is needed is looked at by the next sweep
    again."""
    given = {"keep": keep, "batch": place.batch, "position": place.position, "most": at_once}
    row = connection.execute(query(f"retention/{table}"), given).fetchone()
    assert row is not None  # noqa: S101 - each query returns one row
    deleted, batch, position = row
    return Step(deleted, None if batch is None else Place(batch, position))
