"""Where the queries of the pipeline continue, and positions of changes that were never used before."""

from typing import Any

from psycopg import Connection


def next_offsets(connection: Connection[Any], topic: str) -> dict[int, int]:
    """The next offset to apply, for every partition that was ever applied."""
    rows = connection.execute("select partition, next_offset from applied where topic = %s", [topic])
    return dict(rows.fetchall())


def raise_positions(connection: Connection[Any]) -> None:
    """Call it before anything is written: the positions of changes from now on were not used before, even if the
    database was restored from a backup. Consumers drop events with a position that they know."""
    connection.execute("select raise_positions()")
