"""Reads runs for the API."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

RunPosition = tuple[str, str]  # when it was last updated, and its id


class StoredRun(NamedTuple):
    """`facets` are by place, each with its clock; in a list only those that a list shows."""

    job_id: str
    run: str
    state: str
    started_at: datetime
    ended_at: datetime | None
    updated_at: datetime
    facets: dict[str, list[Any] | None]
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()

    def facet(self, place: str) -> Any:
        """None if there is none."""
        found = self.facets.get(place)
        return None if found is None else found[1]


async def runs_of_job(
    database: Database, tenant: str, job_id: str, *, after: RunPosition | None, limit: int
) -> list[StoredRun]:
    updated, run = after or (None, None)
    parameters = {"job": job_id, "updated": updated, "run": run, "limit": limit}
    return [StoredRun(*row) for row in await database.fetch(tenant, query("runs/of_job"), parameters)]


async def find_runs(database: Database, tenant: str, run: str, job_id: str | None, *, limit: int) -> list[StoredRun]:
    """The runs of this id. The first is that of the job which had the id first."""
    parameters = {"run": run, "job": job_id, "limit": limit}
    return [StoredRun(*row) for row in await database.fetch(tenant, query("runs/find"), parameters)]


async def design_facets_of(database: Database, tenant: str, asset_id: str) -> dict[str, list[Any]]:
    """The facets of events without a run about an asset, by place, without those that were deleted."""
    rows = await database.fetch(tenant, query("runs/design_facets_of"), {"id": asset_id})
    return {place: found for (facets,) in rows for place, found in facets.items() if found[1] is not None}


class EdgeJob(NamedTuple):
    """A job that claims an edge or writes a dataset, and its last run, if it is known. `error` is what the run says
    that it failed with."""

    job_id: str
    qualified_name: str
    run: str | None
    state: str | None
    started_at: datetime | None
    ended_at: datetime | None
    error: str | None


async def jobs_writing(database: Database, tenant: str, asset_id: str, *, limit: int) -> list[EdgeJob]:
    """Those that have named the dataset as an output, also if no edge leads there."""
    rows = await database.fetch(tenant, query("runs/last_of_writers"), {"id": asset_id, "limit": limit})
    return [EdgeJob(*row) for row in rows]


async def jobs_of_edges(
    database: Database, tenant: str, keys: Sequence[tuple[str, str, str]]
) -> dict[int, list[EdgeJob]]:
    """By the position of the edge."""
    parameters = {
        "numbers": list(range(len(keys))),
        "froms": [key[0] for key in keys],
        "tos": [key[1] for key in keys],
        "types": [key[2] for key in keys],
    }
    found: dict[int, list[EdgeJob]] = {}
    for number, *job in await database.fetch(tenant, query("runs/last_of_edges"), parameters) if keys else ():
        found.setdefault(number, []).append(EdgeJob(*job))
    return found
