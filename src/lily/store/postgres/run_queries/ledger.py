"""The newest analyzed query of each job, and the columns of the tables that these queries make."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.model.edges import ClaimsEvent
from lily.model.ids import name_prefix, own_name
from lily.store.postgres.jobs.queue import NewJob, enqueue
from lily.store.postgres.queries import query
from lily.store.postgres.run_queries.queueing import TASK
from lily.store.postgres.table_changes.ledger import TableLedger


class StoredTable(NamedTuple):
    """`columns` are qualified names by name. They are `ordered` if they are all there are, in the table's order, and
    `stated` if a producer's schema has them. `nested` are the fields of structs, by their path: `address.city`."""

    qualified_name: str
    columns: dict[str, str]
    ordered: bool
    exists: bool
    stated: bool = False
    nested: Mapping[str, str] = MappingProxyType({})


class QueryLedger:
    """Works in the transaction of the caller, for one tenant."""

    def __init__(self, connection: Connection[Any], tenant: str) -> None:
        self._connection, self._tenant = connection, tenant

    def is_superseded(self, event: ClaimsEvent) -> bool:
        """Whether a query of a newer event of the job has been analyzed."""
        given = {"tenant": self._tenant, "job": event.job_id, "at": event.clock}
        return self._connection.execute(query("run_queries/newer"), given).fetchone() is not None

    def spellings(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The qualified names of assets that equal one of these in any case, by these."""
        self._connection.execute("select set_config('lily.tenant', %s, true)", [self._tenant])
        given = {"tenant": self._tenant, "names": list(names)}
        found: dict[str, list[str]] = {}
        for name, _, qualified_name in self._connection.execute(query("policies/any_case/ids"), given):
            found.setdefault(name, []).append(qualified_name)
        return found

    def names(self, ids: Sequence[str]) -> dict[str, str]:
        """The qualified names of those that are assets, by id."""
        given = {"tenant": self._tenant, "ids": list(ids)}
        return dict(self._connection.execute(query("run_queries/names"), given).fetchall())

    def tables(self, ids: Mapping[str, str]) -> dict[str, StoredTable]:
        """What is known of tables, by qualified name; `ids` has the id of each."""
        given = {"tenant": self._tenant, "names": list(ids), "ids": list(ids.values())}
        columns: dict[str, dict[str, str]] = {}
        nested: dict[str, dict[str, str]] = {}
        stated: set[str] = set()
        for name, column, qualified_name, of_schema in self._connection.execute(query("run_queries/columns"), given):
            if of_schema:
                stated.add(name)
            if of_schema and (path := _nested_path(name, qualified_name)):
                nested.setdefault(name, {})[path] = qualified_name
            else:
                _add(columns.setdefault(name, {}), name, column, qualified_name)
        for held in TableLedger(self._connection, self._tenant).held_columns(list(ids)):
            if not held.is_deleted:
                _add(columns.setdefault(held.table, {}), held.table, held.name, held.qualified_name)
        made = dict(self._connection.execute(query("run_queries/made"), given).fetchall())
        existing = {name for (name,) in self._connection.execute(query("run_queries/existing"), given)}
        found = (
            StoredTable(
                name,
                columns.get(name, {}),
                ordered=False,
                exists=name in existing,
                stated=name in stated,
                nested=nested.get(name, {}),
            )
            for name in ids
        )
        return {table.qualified_name: _as_made(table, made.get(table.qualified_name)) for table in found}

    def record(self, event: ClaimsEvent, reads: Sequence[str], made: Mapping[str, Sequence[str]]) -> None:
        """Queues the queries again that read tables whose columns are others than before."""
        given = {
            "tenant": self._tenant,
            "job": event.job_id,
            "at": event.clock,
            "event": Jsonb(event.as_cloudevent()),
            "reads": list(reads),
            "made": Jsonb(made),
        }
        before: Mapping[str, Sequence[str]] = {}
        for (stored,) in self._connection.execute(query("run_queries/made_by_job"), given):
            before = stored
        self._connection.execute(query("run_queries/upsert"), given)
        changed = [table for table in made if list(before.get(table, ())) != list(made[table])]
        if changed:
            rows = self._connection.execute(query("run_queries/readers"), given | {"changed": changed}).fetchall()
            enqueue(self._connection, self._tenant, *(NewJob(TASK, {"event": stored}) for (stored,) in rows))


def _add(columns: dict[str, str], table: str, column: str, qualified_name: str) -> None:
    """Of several columns of one name, the one that is named below the table: no other displaces it."""
    key = column.lower()
    if key not in columns or qualified_name.lower() == f"{table}.{key}".lower():
        columns[key] = qualified_name


def _nested_path(table: str, qualified_name: str) -> str:
    """The path of a field of a struct, in lower case; empty for a column, and for what is not named below the table."""
    path: list[str] = []
    while (above := name_prefix(qualified_name)) != qualified_name:
        path.append(own_name(qualified_name).lower())
        if above == table:
            return ".".join(reversed(path)) if len(path) > 1 else ""
        qualified_name = above
    return ""


def _as_made(table: StoredTable, made: Sequence[str] | None) -> StoredTable:
    """With the columns that a query gives it, if any does."""
    if made is None:
        return table
    name, columns = table.qualified_name, table.columns
    ordered = {column.lower(): columns.get(column.lower(), f"{name}.{column}") for column in made}
    return table._replace(columns=ordered, ordered=True)
