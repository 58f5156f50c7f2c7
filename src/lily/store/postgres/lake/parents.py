"""The names below which the bulk lane has stated columns (decision 54).

Most of these columns are only in the lake. If one is stated as something else, PostgreSQL gets an asset of another
type, and has to merge it with what the lake has: the column's table conducts tags to it.
"""

from collections.abc import Iterable

import psycopg

from lily.model import ids
from lily.model.columns import AssetRecord, ColumnsEvent
from lily.store.lake.tables import id_prefix
from lily.store.postgres.queries import query

KNOWN = 50_000  # names that a process remembers to have added
_LOCK = 0x6C706172  # "lpar"


def share_lake_parents(connection: psycopg.Connection) -> None:
    """Until its end, the transaction may add assets by the names that it finds: see `LakeParents`."""
    connection.execute("select pg_advisory_xact_lock_shared(%s)", [_LOCK])


def add_lake_parents(connection: psycopg.Connection, parents: Iterable[tuple[str, str]]) -> None:
    """By tenant and name."""
    # In one order, so that two tasks that add the same names do not wait for each other.
    rows = sorted(
        (tenant, id_prefix(ids.ids_below(tenant, name)[0]), ids.asset_id(tenant, name)) for tenant, name in parents
    )
    if rows:
        tenants, places, above = zip(*rows, strict=True)
        connection.execute(
            query("lake/add_parents"), {"tenants": list(tenants), "places": list(places), "ids": list(above)}
        )


class LakeParents:
    """Adds names before the columns below them are written to the lake, in a transaction of its own."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._known: set[tuple[str, str]] = set()

    def add(self, events: Iterable[AssetRecord]) -> None:
        """Adds those below which these events state columns. Afterwards every transaction that adds assets either has
        found the names, or is over and what it added can be found."""
        parents = {(event.tenant, _name_above(event)) for event in events}
        if not (new := parents - self._known):
            return
        with self._connection.transaction():
            add_lake_parents(self._connection, new)
        with self._connection.transaction():
            self._connection.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
        self._known = new if len(self._known) > KNOWN else self._known | new


def _name_above(event: AssetRecord) -> str:
    return event.parent if isinstance(event, ColumnsEvent) else ids.name_prefix(event.statement.qualified_name)
