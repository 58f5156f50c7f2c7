"""What PostgreSQL knows of tables that change: what is below them, and who has stated them."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import Connection

from lily.model import ids
from lily.store.postgres.queries import query
from lily.store.postgres.table_changes.columns import HeldColumn, held_columns_parameters


class ColumnBelow(NamedTuple):
    """A column, or a field of a struct. What only an edge or the graph has named has no times and no attributes. What
    was stated to be something else, or was moved away, is not shown as a column of the table."""

    qualified_name: str
    name: str | None = None
    attributes: dict[str, Any] | None = None
    is_deleted: bool = False
    first_at: datetime | None = None
    last_at: datetime | None = None
    is_shown: bool = True


class TableLedger:
    """Works in the transaction of the caller, for one tenant."""

    def __init__(self, connection: Connection[Any], tenant: str) -> None:
        self._connection, self._tenant = connection, tenant

    def below(self, table: str) -> list[ColumnBelow]:
        """What PostgreSQL has below a table, deleted columns too."""
        first, last = ids.ids_below(self._tenant, table)
        given = {
            "tenant": self._tenant,
            "table": ids.asset_id(self._tenant, table),
            "first": first,
            "last": last,
            "prefix": f"{table}.",
            "columns": [column.id for column in self.held_columns([table])],
        }
        return [ColumnBelow(*row) for row in self._connection.execute(query("table_changes/below"), given)]

    def renamed_from(self, table: str, before: datetime) -> tuple[str, datetime] | None:
        """The name that the table had before its newest rename, and when that was; None if it was not before this."""
        given = {"tenant": self._tenant, "id": ids.asset_id(self._tenant, table)}
        row = self._connection.execute(query("table_changes/renamed_from"), given).fetchone()
        found = None if row is None else (row[0], datetime.fromisoformat(row[1]))
        return found if found is not None and found[1] < before else None

    def held_columns(self, tables: Collection[str]) -> list[HeldColumn]:
        """The columns of tables that may not be shown as such."""
        given = held_columns_parameters(self._tenant, tables)
        return [HeldColumn(*row) for row in self._connection.execute(query("table_changes/columns"), given)]

    def kinds(self, names: Collection[str]) -> dict[str, str]:
        """The types of those of the names that are assets."""
        given = {"tenant": self._tenant, "ids": [ids.asset_id(self._tenant, name) for name in names]}
        return dict(self._connection.execute(query("table_changes/kinds"), given).fetchall())

    def lake_is_fresh(self, at: datetime) -> bool:
        """Whether the lake has everything that was in the log then."""
        row = self._connection.execute(query("table_changes/lake_is_fresh"), {"at": at}).fetchone()
        return bool(row and row[0])

    def stated_by_others(self, names: Collection[str], by: str) -> set[str]:
        """Those of the names that somebody else has stated, or of which that is not known."""
        by_id = {ids.asset_id(self._tenant, name): name for name in names}
        given = {"tenant": self._tenant, "ids": list(by_id), "by": by}
        return {by_id[found] for (found,) in self._connection.execute(query("table_changes/of_others"), given)}
