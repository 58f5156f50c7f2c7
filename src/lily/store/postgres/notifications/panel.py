"""The list of notifications, as the panel shows it."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


@dataclass(frozen=True, slots=True)
class Chosen:
    """Filters of the list; None does not filter. `kind` is a pattern of LIKE. `of_incidents`: only those about
    incidents and what they put at risk, or only the others."""

    id: str | None = None
    kind: str | None = None
    severity: str | None = None
    acknowledged: bool | None = None
    asset: str | None = None
    incident: str | None = None
    muted: bool | None = None
    of_incidents: bool | None = None


class Listed(NamedTuple):
    position: int
    assets: list[str]
    shown: dict[str, Any]


async def read_panel(database: Database, tenant: str, chosen: Chosen, below: int | None, limit: int) -> list[Listed]:
    """The newest below a position."""
    parameters = asdict(chosen) | {"below": below, "limit": limit}
    return [Listed(*row) for row in await database.fetch(tenant, query("notifications/panel"), parameters)]


async def acknowledge(database: Database, tenant: str, identity: str, by: str) -> tuple[str, str] | None:
    """Who acknowledged it first, and when; None if there is no such notification."""
    rows = await database.fetch(tenant, query("notifications/acknowledge"), {"id": identity, "by": by})
    return (rows[0][0], rows[0][1]) if rows else None


async def read_deliveries(
    database: Database, tenant: str, notification: str, subscription: str | None = None
) -> list[dict[str, Any]]:
    parameters = {"notification": notification, "subscription": subscription}
    return [row[0] for row in await database.fetch(tenant, query("notifications/deliveries"), parameters)]
