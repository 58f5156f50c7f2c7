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


class Unreplayed(NamedTuple):
    id: int
    topic: str
    authorised: bool = False  # it seems to be stated with authority over protective tags


class Replayable(NamedTuple):
    id: int
    topic: str
    key: bytes
    original: bytes | None


async def read_dead_letters(database: Database, tenant: str, *, below: int | None, limit: int) -> list[DeadLetter]:
    parameters = {"below": below, "limit": limit, "shown": SHOWN_BYTES}
    return [DeadLetter(*row) for row in await database.fetch(tenant, query("dead_letters/list"), parameters)]


async def unreplayed(
    database: Database, tenant: str, *, ids: Sequence[int] | None, above: int, newest: int, limit: int
) -> list[Unreplayed]:
    """The next dead letters that are not replayed, oldest first: of the given ones, or of all. Only those whose key is
    of the tenant."""
    parameters = {
        "prefix": f"{tenant}/".encode(),
        "ids": None if ids is None else list(ids),
        "above": above,
        "newest": newest,
        "limit": limit,
    }
    return [Unreplayed(*row) for row in await database.fetch(tenant, query("dead_letters/unreplayed"), parameters)]


async def claim(database: Database, tenant: str, ids: Sequence[int], claimed_at: datetime) -> list[Replayable]:
    """Marks dead letters as replayed, and returns those that no one else has claimed, oldest first. `claimed_at`
    identifies the claim: the same claim again returns the same letters."""
    rows = await database.fetch(tenant, query("dead_letters/claim"), {"ids": list(ids), "claimed_at": claimed_at})
    return sorted(Replayable(*row) for row in rows)


async def undo_claim(database: Database, tenant: str, ids: Sequence[int], claimed_at: datetime) -> None:
    await database.fetch(tenant, query("dead_letters/undo_claim"), {"ids": list(ids), "claimed_at": claimed_at})


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


async def replay_to_reactions(database: Database, tenant: str, ids: Sequence[int]) -> list[int]:
    """Parks dead letters of reactions that are not replayed: each goes to the reaction that it came from for another
    attempt. Returns their ids."""
    rows = await database.fetch(tenant, query("reactions/replay"), {"ids": list(ids)}) if ids else []
    return [id_ for (id_,) in rows]


async def replay_jobs(database: Database, tenant: str, ids: Sequence[int]) -> list[int]:
    """Queues dead letters of jobs that are not replayed. Returns their ids."""
    rows = await database.fetch(tenant, query("jobs/replay"), {"ids": list(ids), "topic": JOBS}) if ids else []
    return [id_ for id_, _ in rows]
