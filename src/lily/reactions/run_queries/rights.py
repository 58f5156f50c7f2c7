"""What the sender of a query may learn from the catalogue, and state."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from lily.intake.sql.protocol import AnalysisResult
from lily.reactions.run_queries.additions import table_of
from lily.reactions.run_queries.sender_policies import SenderPolicies
from lily.store.postgres.run_queries.ledger import StoredTable

Tables = Mapping[str, StoredTable]


def readable(policies: SenderPolicies, tables: Tables) -> dict[str, StoredTable]:
    """The tables without the columns that the sender may not read: `select *` would name them."""
    kinds = {
        column: "column" for table in tables.values() for column in (*table.columns.values(), *table.nested.values())
    }
    may = policies.permitted("READ", kinds | {table.qualified_name: "table" for table in tables.values()})
    return {key: _readable(table, may) for key, table in tables.items()}


def _readable(table: StoredTable, may: Collection[str]) -> StoredTable:
    known = table.columns if table.qualified_name in may else {}
    columns = {name: column for name, column in known.items() if column in may}
    nested = {path: field for path, field in table.nested.items() if path.partition(".")[0] in columns and field in may}
    return table._replace(columns=columns, ordered=table.ordered and len(columns) == len(table.columns), nested=nested)


def writable(policies: SenderPolicies, result: AnalysisResult, tables: Tables) -> AnalysisResult:
    """The result itself if the sender may state all of it. Otherwise a partial one, without the edges and columns that
    it may not state: that takes WRITE on both ends of an edge, and on the tables of its columns."""
    parents = _Parents(tables)
    named = {end for edge in result.edges for end in edge[:2]}
    named |= {name for table, columns in result.made.items() for name in (table, *_columns(table, columns))}
    kinds = {name: parents.kind(name) for one in named for name in (one, *parents.tables(one))}
    may = policies.permitted("WRITE", kinds)

    def permits(*names: str) -> bool:
        return all(name in may and may.issuperset(parents.tables(name)) for name in names)

    edges = [edge for edge in result.edges if permits(*edge[:2])]
    made = {table: columns for table, columns in result.made.items() if permits(table, *_columns(table, columns))}
    if len(edges) == len(result.edges) and len(made) == len(result.made):
        return result
    return replace(result, edges=edges, definitions=[], made=made, partial=result.partial + 1)


def _columns(table: str, columns: Collection[str]) -> Iterator[str]:
    return (f"{table}.{column}" for column in columns)


class _Parents:
    """The tables of columns, by qualified name."""

    def __init__(self, tables: Tables) -> None:
        self._tables = {table.qualified_name for table in tables.values()}
        self._of = {column: t.qualified_name for t in tables.values() for column in t.columns.values()}

    def tables(self, name: str) -> set[str]:
        """The table that has the column, and the one whose name its own begins with, as far as they are known."""
        return {table for table in (self._of.get(name), table_of(name, self._tables)) if table}

    def kind(self, name: str) -> str:
        return "table" if name in self._tables else "column"
