"""The offsets that the pipeline and the reactions have reached, and the backlog."""

from typing import NamedTuple

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


class Backlog(NamedTuple):
    unpublished_batches: int
    dead_letters: int


async def applied_offsets(database: Database) -> dict[tuple[str, int], int]:
    """The next offset to apply, by topic and partition."""
    rows = await database.fetch(None, query("progress/applied"), {})
    return {(topic, partition): offset for topic, partition, offset in rows}


async def backlog(database: Database) -> Backlog:
    (row,) = await database.fetch(None, query("progress/backlog"), {})
    return Backlog(*row)
