"""The receipts of enforcement, as the API reads them."""

from typing import Any, NamedTuple

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

Place = tuple[str, str, str]  # target, asset and tag: receipts are listed in this order


class Wanted(NamedTuple):
    """Which receipts to list; None is any."""

    target: str | None = None
    asset: str | None = None
    tag: str | None = None
    state: str | None = None


async def read_receipts(
    database: Database, tenant: str, wanted: Wanted, beyond: Place | None, limit: int
) -> list[dict[str, Any]]:
    target, asset, tag = beyond or (None, None, None)
    parameters = {**wanted._asdict(), "after_target": target, "after_asset": asset, "after_tag": tag, "limit": limit}
    return [row[0] for row in await database.fetch(tenant, query("enforcement/receipts/list"), parameters)]


async def confirmations(database: Database, tenant: str, since: str) -> list[dict[str, Any]]:
    """For each target, when it confirmed everything that was committed before `since`; None while it has not."""
    return [
        row[0] for row in await database.fetch(tenant, query("enforcement/receipts/confirmations"), {"since": since})
    ]
