"""Where the queries of the pipeline continue."""

from typing import Any

from psycopg import Connection


def next_offsets(connection: Connection[Any], topic: str) -> dict[int, int]:
    """The next offset to apply, for every partition that was ever applied."""
    rows = connection.execute("select partition, next_offset from applied where topic = %s", [topic])
    return dict(rows.fetchall())
