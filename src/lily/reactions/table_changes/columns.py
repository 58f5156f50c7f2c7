"""The columns of a table, as PostgreSQL and the lake know them."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from psycopg import Connection

from lily.model.assets import entity_type, is_deleted, shown_fields
from lily.model.lanes import BULK_TYPES
from lily.model.states import AssetState
from lily.reactions.run_queries import ColumnSource
from lily.store.postgres.table_changes.ledger import ColumnBelow, TableLedger

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


def _is_column(state: AssetState) -> bool:
    return entity_type(state.layers) in BULK_TYPES


def _column(state: AssetState) -> ColumnBelow:
    fields = shown_fields(state.layers)
    first, last = (datetime.fromisoformat(at) for at in (state.first, state.last))
    return ColumnBelow(state.qualified_name, fields.get("name"), fields, is_deleted(state.layers), first, last)
