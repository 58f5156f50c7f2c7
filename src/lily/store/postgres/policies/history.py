"""Policies, roles, users and settings as they were at a time, and what limits answers about the past."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, NamedTuple

from psycopg import Connection

from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

Object = dict[str, Any]


class Past(NamedTuple):
    """By key; `settings` is None if the defaults applied. `history_from` is None unless the given time is before
    the history that is kept: then it is the time from which that is complete."""

    policies: dict[str, Object]
    roles: dict[str, Object]
    users: dict[str, Object]
    settings: Object | None
    history_from: str | None


async def read_past(database: Database, tenant: str, at: str, users: Collection[str]) -> Past:
    """`users` are the keys of those to read."""
    rows = await database.fetch(tenant, query("policies/history/as_of"), {"at": at, "users": list(users)})
    kinds = ("policy", "role", "user", "access-settings", "history-from")
    of_kind: dict[str, dict[str, Any]] = {kind: {} for kind in kinds}
    for kind, key, body in rows:
        of_kind[kind][key] = body
    settings = next(iter(of_kind["access-settings"].values()), None)
    return Past(of_kind["policy"], of_kind["role"], of_kind["user"], settings, of_kind["history-from"].get(""))


def delete_old_history(connection: Connection[Any], keep: timedelta) -> int:
    """Deletes what ended longer ago than `keep`; what is still valid stays. Returns how many states it deleted."""
    row = connection.execute(query("policies/history/delete_old"), {"keep": keep}).fetchone()
    return row[0] if row else 0


async def tags_ever_propagating(database: Database, tenant: str) -> frozenset[str]:
    """The keys of the tags that propagate by definition, or did so once."""
    rows = await database.fetch(tenant, query("policies/history/tags_ever_propagating"), {})
    return frozenset(key for (key,) in rows)


async def ever_had_edges(database: Database, tenant: str, asset_ids: Collection[str]) -> bool:
    """Whether one of the assets has, or has had, an edge."""
    return bool(await database.fetch(tenant, query("policies/history/have_edges"), {"ids": id_array(asset_ids)}))
