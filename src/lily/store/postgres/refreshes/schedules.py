"""Schedules of data sources, as the API reads and changes them. `now` is the database's clock unless it is given."""

from datetime import datetime
from typing import Any, NamedTuple

from lily.model import clock
from lily.model.access import Principal
from lily.model.durations import shown_duration
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Row

Object = dict[str, Any]


class Settings(NamedTuple):
    """What a person sets. Times are seconds."""

    every: int
    timeout: int
    enabled: bool


async def page(database: Database, tenant: str, beyond: str, limit: int) -> list[tuple[str, Object]]:
    """The schedules after a data source, by name. Raises StoreUnavailable."""
    found = await _read(database, tenant, None, beyond, limit)
    return [(schedule["data_source"], schedule) for schedule in found]


async def find(database: Database, tenant: str, data_source: str) -> Object | None:
    """Raises StoreUnavailable."""
    return next(iter(await _read(database, tenant, data_source, "", 1)), None)


async def configure(
    database: Database,
    principal: Principal,
    data_source: str,
    settings: Settings,
    *,
    correlation: str = "",
    now: datetime | None = None,
) -> None:
    """Raises StoreUnavailable."""
    parameters = _by(principal, data_source, correlation, now) | settings._asdict()
    await database.fetch(principal.tenant, query("refreshes/configure"), parameters)


async def reset(
    database: Database, principal: Principal, data_source: str, correlation: str = "", now: datetime | None = None
) -> bool:
    """Back to the default. False if there is no such schedule. Raises StoreUnavailable."""
    parameters = _by(principal, data_source, correlation, now)
    ((found,),) = await database.fetch(principal.tenant, query("refreshes/reset"), parameters)
    return bool(found)


async def request(
    database: Database, principal: Principal, data_source: str, run_id: str, now: datetime | None = None
) -> str | None:
    """Requests a run with this id, unless one is unfinished. Returns the id of the run that is unfinished afterwards;
    None if there is no such schedule. Raises StoreUnavailable."""
    parameters = {"data_source": data_source, "run": run_id, "by": principal.name, "now": now}
    rows = await database.fetch(principal.tenant, query("refreshes/request_now"), parameters)
    return rows[0][0] if rows else None


async def _read(database: Database, tenant: str, only: str | None, beyond: str, limit: int) -> list[Object]:
    parameters = {"data_source": only, "beyond": beyond, "limit": limit}
    return [_object(row) for row in await database.fetch(tenant, query("refreshes/schedules"), parameters)]


def _by(principal: Principal, data_source: str, correlation: str, now: datetime | None) -> Object:
    return {"data_source": data_source, "by": principal.name, "correlation": correlation, "now": now}


def _object(row: Row) -> Object:
    source, every, timeout, enabled, configured, first_seen, next_at, running, last_run, state, finished_at = row
    last = {"run_id": last_run, "state": state, "finished_at": finished_at and clock.stamp(finished_at)}
    return {
        "data_source": source,
        "every": shown_duration(every),
        "timeout": shown_duration(timeout),
        "enabled": enabled,
        "configured": configured,
        "first_seen": clock.stamp(first_seen),
        "next_at": next_at and clock.stamp(next_at),
        "run_id": running,
        "last_run": last if last_run else None,
    }
