"""Runs of refreshes, as the API hands them to scrapers and as scrapers report about them. `now` is the database's clock
unless it is given."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from psycopg.types.json import Jsonb

from lily.model import clock
from lily.model.access import Principal
from lily.model.durations import shown_duration
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Row

State = Literal["requested", "running", "succeeded", "failed", "timed_out"]
Outcome = Literal["succeeded", "failed"]
UNFINISHED: tuple[State, ...] = ("requested", "running")
STATES: tuple[State, ...] = get_args(State)
LEASE_SECONDS = 120  # so long a scraper that took a run may be silent; it renews the lease several times in that time
_COLUMNS = (
    "run_id",
    "data_source",
    "state",
    "reason",
    "due_at",
    "requested_at",
    "requested_by",
    "timeout",
    "deadline",
    "started_at",
    "scraper",
    "finished_at",
    "error",
    "counts",
)
_TIMES = ("due_at", "requested_at", "deadline", "started_at", "finished_at")

Object = dict[str, Any]
Place = tuple[str, str]  # when the last one of a page was requested, and its id


class Wanted(NamedTuple):
    """Filters; None does not filter."""

    data_source: str | None = None
    state: State | None = None


class Report(NamedTuple):
    """How a run ended, as its scraper reports it."""

    state: Outcome
    error: str = ""
    counts: Mapping[str, Any] = {}
    lease: str | None = None


async def page(database: Database, tenant: str, wanted: Wanted, after: Place | None, limit: int) -> list[Object]:
    """The runs after a place, the newest first. Raises StoreUnavailable."""
    at, last = after or (None, None)
    parameters = {**wanted._asdict(), "id": None, "at": at, "last": last, "limit": limit}
    return [_object(row) for row in await database.fetch(tenant, query("refreshes/runs"), parameters)]


async def find(database: Database, tenant: str, run_id: str) -> Object | None:
    """Raises StoreUnavailable."""
    parameters = dict.fromkeys(("data_source", "state", "at", "last")) | {"id": run_id, "limit": 1}
    rows = await database.fetch(tenant, query("refreshes/runs"), parameters)
    return _object(rows[0]) if rows else None


async def take(
    database: Database,
    principal: Principal,
    lease: str,
    data_sources: Sequence[str] | None,
    now: datetime | None = None,
) -> Object | None:
    """Hands a run of one of the data sources to the caller, who then holds it under the lease; None if there is none
    to take. None as data sources are all. Raises StoreUnavailable."""
    names = None if data_sources is None else list(data_sources)
    parameters = _reported(principal, lease, now) | {"data_sources": names}
    rows = await database.fetch(principal.tenant, query("refreshes/take"), parameters)
    return await find(database, principal.tenant, rows[0][0]) if rows else None


async def start(
    database: Database, principal: Principal, run_id: str, lease: str | None, now: datetime | None = None
) -> bool:
    """Whether the caller may work on the run: False if it is finished, or if another scraper holds it. Raises
    StoreUnavailable."""
    parameters = _reported(principal, lease, now) | {"run": run_id}
    return bool(await database.fetch(principal.tenant, query("refreshes/start"), parameters))


async def finish(
    database: Database, principal: Principal, run_id: str, report: Report, now: datetime | None = None
) -> bool:
    """False if the run was finished before, or if another scraper holds it. Raises StoreUnavailable."""
    statement = query("refreshes/ending_reported") + query("refreshes/end_runs")
    parameters = {"run": run_id, "now": now, **report._asdict(), "counts": Jsonb(report.counts)}
    return bool(await database.fetch(principal.tenant, statement, parameters))


def _reported(principal: Principal, lease: str | None, now: datetime | None) -> Object:
    return {"by": principal.name, "lease": lease, "seconds": LEASE_SECONDS, "now": now}


def _object(row: Row) -> Object:
    found = dict(zip(_COLUMNS, row, strict=True))
    for name in _TIMES:
        found[name] = None if found[name] is None else clock.stamp(found[name])
    return found | {"timeout": shown_duration(found["timeout"])}
