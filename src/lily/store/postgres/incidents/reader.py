"""Incidents as the API reads them."""

from collections.abc import Collection
from typing import Any, NamedTuple

from lily.incidents import Severity, State
from lily.model import clock
from lily.model.search_terms import words_of
from lily.store.postgres.incidents.queries import MAX_ASSETS, with_assets
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Row

LISTED_ASSETS = 100  # of one incident in a list
MAX_HISTORY = 500
_TIMES = ("opened_at", "acknowledged_at", "resolved_at", "updated_at")
_COLUMNS = (
    "incident_id",
    "source",
    "external_id",
    "state",
    "severity",
    "title",
    "description",
    "url",
    "kind",
    "owner",
    *_TIMES,
    "assets",
    "unmatched",
)

Object = dict[str, Any]
Place = tuple[str, str]  # when the last one of a page was opened, and its id


class Wanted(NamedTuple):
    """Filters; None does not filter."""

    state: State | None = None
    severity: Severity | None = None
    source: str | None = None
    asset: str | None = None
    q: str | None = None


async def page(
    database: Database, tenant: str, wanted: Wanted, after: Place | None, limit: int, *, assets: int = LISTED_ASSETS
) -> list[Object]:
    """The incidents after a place, newest first, with at most so many assets each. Raises StoreUnavailable."""
    at, last = after or (None, None)
    parameters = {
        "id": None,
        "state": wanted.state,
        "severity": wanted.severity,
        "source": wanted.source,
        "asset": wanted.asset,
        "words": [f"%{term}%" for term in words_of(wanted.q or "")],
        "at": at,
        "last": last,
        "limit": limit,
        "assets": assets,
    }
    return [_object(row) for row in await database.fetch(tenant, with_assets("incidents/reading/list"), parameters)]


async def find(database: Database, tenant: str, incident_id: str) -> Object | None:
    """With all of its assets. Raises StoreUnavailable."""
    parameters = dict.fromkeys(("state", "severity", "source", "asset", "at", "last")) | {
        "id": incident_id,
        "words": [],
        "limit": 1,
        "assets": MAX_ASSETS,
    }
    rows = await database.fetch(tenant, with_assets("incidents/reading/list"), parameters)
    return _object(rows[0]) if rows else None


async def concerned(database: Database, tenant: str, incidents: Collection[str]) -> dict[str, set[str]]:
    """By incident, the assets that it concerns itself: what its words may name. Raises StoreUnavailable."""
    if not incidents:
        return {}
    rows = await database.fetch(tenant, query("incidents/reading/concerned"), {"ids": sorted(incidents)})
    return {incident: set(names) for incident, names in rows}


async def history(database: Database, tenant: str, incident_id: str) -> list[Object]:
    """What was stated, the newest first. Raises StoreUnavailable."""
    parameters = {"id": incident_id, "limit": MAX_HISTORY}
    rows = await database.fetch(tenant, query("incidents/history/list"), parameters)
    return [{"event_id": event, "at": clock.stamp(at), "by": by, "change": change} for event, at, by, change in rows]


async def is_merged(database: Database, tenant: str, incident_id: str, event_id: str) -> bool:
    """Whether a statement is part of the incident. Raises StoreUnavailable."""
    parameters = {"id": incident_id, "event": event_id}
    return bool(await database.fetch(tenant, query("incidents/reading/is_merged"), parameters))


def _object(row: Row) -> Object:
    found = dict(zip(_COLUMNS, row, strict=True))
    for name in _TIMES:
        found[name] = None if found[name] is None else clock.stamp(found[name])
    names = ("metadata_id", "entity_type", "qualified_name")
    return found | {"assets": [dict(zip(names, asset, strict=True)) for asset in found["assets"]]}
