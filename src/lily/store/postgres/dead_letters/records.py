"""Dead letters: what the pipeline, a reaction or a job refused, with the errors and the original to replay."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from lily.store.postgres.jobs.queue import TOPIC as JOBS
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

SHOWN_BYTES = 16 * 1024  # of an original, in lists


class DeadLetter(NamedTuple):
    id: int
    topic: str
    partition: int
    offset: int
    errors: list[dict[str, str]]
    refused_at: datetime
    replayed_at: datetime | None
    original: bytes | None  # the first SHOWN_BYTES
    length: int | None


class Replayable(NamedTuple):
    id: int
    topic: str
    key: bytes
    original: bytes | None


async def read_dead_letters(database: Database, tenant: str, *, below: int | None, limit: int) -> list[DeadLetter]:
    parameters = {"below": below, "limit": limit, "shown": SHOWN_BYTES}
    return [DeadLetter(*row) for row in await database.fetch(tenant, query("dead_letters/list"), parameters)]


async def replayable(
    database: Database, tenant: str, *, ids: Sequence[int] | None, above: int, newest: int, limit: int
) -> list[Replayable]:
    """The given dead letters, or all that were never replayed. Only those whose key is of the tenant."""
    parameters = {
        "prefix": f"{tenant}/".encode(),
        "ids": None if ids is None else list(ids),
        "above": above,
        "newest": newest,
        "limit": limit,
    }
    rows = await database.fetch(tenant, query("dead_letters/replayable"), parameters)
    return [Replayable(*row) for row in rows]


async def errors_at(
    database: Database, tenant: str, topic: str, offsets: Sequence[tuple[int, int]], limit: int
) -> list[dict[str, Any]]:
    """The errors of the records that were refused at these partitions and offsets."""
    parameters = {
        "topic": topic,
        "partitions": [partition for partition, _ in offsets],
        "offsets": [offset for _, offset in offsets],
        "limit": limit,
    }
    rows = await database.fetch(tenant, query("dead_letters/errors_at"), parameters)
    return [error for (errors,) in rows for error in errors]


async def mark_replayed(database: Database, tenant: str, ids: Sequence[int]) -> None:
    await database.fetch(tenant, query("dead_letters/mark_replayed"), {"ids": list(ids)})


async def replay_to_reactions(database: Database, tenant: str, ids: Sequence[int]) -> None:
    """Parks dead letters of reactions: each goes to the reaction that it came from for another attempt."""
    await database.fetch(tenant, query("reactions/replay"), {"ids": list(ids)})


async def replay_jobs(database: Database, tenant: str, ids: Sequence[int]) -> None:
    """Queues dead letters of jobs again."""
    await database.fetch(tenant, query("jobs/replay"), {"ids": list(ids), "topic": JOBS})
