"""Adds the columns of tables that only the lake has."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from psycopg import Connection

from lily.intake.sql.column_order import column_name, in_order
from lily.model.assets import entity_type, is_deleted, shown_fields
from lily.model.errors import Transient
from lily.model.lanes import BULK_TYPES
from lily.model.states import AssetState
from lily.store.postgres.run_queries.ledger import StoredTable

TABLES = 50  # of one query
COLUMNS = 10_000  # of one table


class ColumnsUnavailable(Transient):
    """The lake cannot be read, or not in time."""


class ColumnSource(Protocol):
    def children(self, connection: Connection[Any], tenant: str, names: Sequence[str]) -> dict[str, list[AssetState]]:
        """What the lake has below tables, by the qualified name of each. Raises ColumnsUnavailable."""
        ...


class LackingColumns:
    """`opened` makes the source with the first call that needs it."""

    def __init__(self, opened: Callable[[], ColumnSource]) -> None:
        self._opened = opened
        self._source: ColumnSource | None = None

    def add(
        self, connection: Connection[Any], tenant: str, tables: Mapping[str, StoredTable]
    ) -> dict[str, StoredTable]:
        """The tables, with the columns of those that no query makes and no producer's schema states. Raises
        ColumnsUnavailable."""
        lacking = {table.qualified_name for table in tables.values() if _is_lacking(table)}
        if not lacking:
            return dict(tables)
        if self._source is None:
            self._source = self._opened()
        found = self._source.children(connection, tenant, sorted(lacking)[:TABLES])
        return {key: _with_columns(table, found.get(table.qualified_name, ())) for key, table in tables.items()}


def _is_lacking(table: StoredTable) -> bool:
    return table.exists and not table.ordered and not table.stated


def _with_columns(table: StoredTable, states: Sequence[AssetState]) -> StoredTable:
    """PostgreSQL's columns stay. All are in order if the lake has all of them, and their positions."""
    columns = [state for state in states if entity_type(state.layers) in BULK_TYPES and not is_deleted(state.layers)]
    found, ordered = in_order([(shown_fields(state.layers), state.qualified_name) for state in columns[:COLUMNS]])
    names = {
        column_name(fields, qualified_name, table.qualified_name): qualified_name for fields, qualified_name in found
    }
    if not names:
        return table
    ordered = ordered and len(columns) <= COLUMNS and table.columns.keys() <= names.keys()
    return table._replace(columns={**names, **table.columns}, ordered=ordered)
