"""The history of derived tags: which tags had reached an asset at a time, and from when on that is known."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, NamedTuple

from psycopg import Connection

from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


class Propagated(NamedTuple):
    """The keys of the tags that had reached an asset along edges, and those of them that are not an influence only:
    what is below the asset inherits these."""

    tags: frozenset[str] = frozenset()
    content: frozenset[str] = frozenset()


NOTHING_PROPAGATED = Propagated()


async def propagated_at(database: Database, tenant: str, asset_ids: Collection[str], at: str) -> dict[str, Propagated]:
    """By asset; assets that no tag had reached are left out."""
    parameters = {"ids": id_array(asset_ids), "at": at}
    rows = await database.fetch(tenant, query("propagation/propagated_at"), parameters)
    return {asset_id: Propagated(frozenset(tags), frozenset(content or ())) for asset_id, tags, content in rows}


async def history_start(database: Database, tenant: str) -> str | None:
    """From when on the history is complete; None if it always was."""
    rows = await database.fetch(tenant, query("propagation/history_start"), {})
    return rows[0][0] if rows else None


def delete_old_tag_history(connection: Connection[Any], keep: timedelta) -> int:
    """Deletes what ended longer ago than `keep`; what is in force is kept however old it is. The history of the tenants
    concerned starts later from then on."""
    row = connection.execute(query("propagation/delete_old_tag_history"), [keep]).fetchone()
    return 0 if row is None else int(row[0])
