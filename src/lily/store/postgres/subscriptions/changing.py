"""Changes of channels, subscriptions, mentions and mutes: one statement that changes the row and audits it."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from psycopg import sql

from lily.model.access import Principal
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

Object = dict[str, Any]


class Changed(NamedTuple):
    before: Object | None
    after: Object | None


async def change(
    database: Database, principal: Principal, how: str, values: Mapping[str, Any], *, action: str, correlation: str
) -> Changed | None:
    """None if nothing was changed: there is no such object, or there is one already. `how` names the statement."""
    parameters = {**values, "by": principal.name, "action": action, "correlation": correlation}
    rows = await database.fetch(principal.tenant, _statement(how), parameters)
    return Changed(rows[0][1], rows[0][2]) if rows else None


@cache
def _statement(how: str) -> sql.Composed:
    return sql.SQL(query(f"subscriptions/{how}")) + sql.SQL(query("subscriptions/record"))
