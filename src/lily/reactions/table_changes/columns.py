"""The columns of a table, as PostgreSQL and the lake know them."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from psycopg import Connection

from lily.model.assets import entity_type, is_deleted, shown_fields
from lily.model.lanes import BULK_TYPES
from lily.model.states import AssetState
from lily.reactions.run_queries import ColumnSource
from lily.reactions.table_changes.moves import moved_name
from lily.store.postgres.table_changes.ledger import ColumnBelow, TableLedger

MAX_RENAMES = 8  # of one table within what the log has not carried out yet
MAX_DEPTH = 8  # of nested fields
MAX_COLUMNS = 10_000  # of one table


class KnownColumns:
    """`opened` makes the source of the lake's columns with the first table."""

    def __init__(self, opened: Callable[[], ColumnSource]) -> None:
        self._opened = opened
        self._lake: ColumnSource | None = None

    def of(self, connection: Connection[Any], tenant: str, table: str, before: datetime) -> list[ColumnBelow]:
        """Those that were there before a time, deleted ones too. Raises ColumnsUnavailable."""
        found = {column.qualified_name: column for column in self._of_lake(connection, tenant, table)}
        for column in TableLedger(connection, tenant).below(table):
            before_it = found.get(column.qualified_name)
            if before_it is None:
                found[column.qualified_name] = column
            elif column.first_at is not None:  # what was stated of it again does not make it newer
                earliest = min(column.first_at, before_it.first_at or column.first_at)
                found[column.qualified_name] = column._replace(first_at=earliest)
        return [column for column in found.values() if column.first_at is None or column.first_at <= before]

    def with_earlier(self, connection: Connection[Any], tenant: str, table: str, before: datetime) -> list[ColumnBelow]:
        """As `of`, with what the table had under earlier names: a rename that has not been carried out yet, or whose
        columns are still in the log, will state these as columns of the table. Raises ColumnsUnavailable."""
        found = {column.qualified_name: column for column in self.of(connection, tenant, table, before)}
        name, until = table, before
        for _ in range(MAX_RENAMES):
            earlier = TableLedger(connection, tenant).renamed_from(name, until)
            if earlier is None:
                break
            name, until = earlier
            for column in self.of(connection, tenant, name, until):
                moved = _under(column, name, table, until)
                known = found.get(moved.qualified_name)
                if known is None or known.attributes is None:
                    found[moved.qualified_name] = moved
        return list(found.values())

    def _of_lake(self, connection: Connection[Any], tenant: str, table: str) -> Iterator[ColumnBelow]:
        if self._lake is None:
            self._lake = self._opened()
        level, left = [table], MAX_COLUMNS
        for _ in range(MAX_DEPTH):
            if not level or left <= 0:
                return
            found = self._lake.children(connection, tenant, level)
            columns = [state for states in found.values() for state in states if _is_column(state)][:left]
            yield from map(_column, columns)
            left -= len(columns)
            level = _structs(columns)


def _structs(columns: Sequence[AssetState]) -> list[str]:
    """Those that may have fields: a plain type has one word."""
    kinds = ((state, str(shown_fields(state.layers).get("data_type") or "")) for state in columns)
    return [state.qualified_name for state, kind in kinds if not kind.isalnum() or kind.lower() in _NESTED]


_NESTED = frozenset({"struct", "record", "row", "object", "map", "nested", "tuple", "variant", "json", "array"})


def _under(column: ColumnBelow, old: str, new: str, at: datetime) -> ColumnBelow:
    """The column under a later name of its table. What the rename deletes was there until then."""
    was_deleted = column.is_deleted and column.last_at is not None and column.last_at < at
    return column._replace(qualified_name=moved_name(column, old, new), is_deleted=was_deleted)


def _is_column(state: AssetState) -> bool:
    return entity_type(state.layers) in BULK_TYPES


def _column(state: AssetState) -> ColumnBelow:
    fields = shown_fields(state.layers)
    first, last = (datetime.fromisoformat(at) for at in (state.first, state.last))
    return ColumnBelow(state.qualified_name, fields.get("name"), fields, is_deleted(state.layers), first, last)
