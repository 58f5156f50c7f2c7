"""What a rename states about columns: edges from the old ones, the new ones, and that the old ones are gone."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from lily.model import ids
from lily.model.edges import DERIVED_FROM, ClaimsEvent, DatasetSchema, EdgeEvent, EdgeKey, EdgeStatement
from lily.model.envelopes import MAX_EVENT_ID
from lily.model.events import AssetEvent
from lily.model.statements import Operation, Statement
from lily.model.table_changes import NO_CHANGES, TableChanges
from lily.model.values import MAX_QUALIFIED_NAME
from lily.store.postgres.table_changes.ledger import ColumnBelow

MAX_NAMES = 512 << 10  # characters of one schema

_KEPT = ("data_type", "ordinal_position")


class Moves:
    """Of all tables that one event renames: names may be exchanged, so a column that is gone here may be new there."""

    def __init__(self, event: ClaimsEvent) -> None:
        self._event = event
        self._stated = {name for schema in event.schemas for name in schema.columns}  # by the event itself
        self._at = datetime.fromisoformat(event.time)
        self.edges: dict[EdgeKey, EdgeEvent] = {}
        self.new: dict[str, AssetEvent] = {}
        self._old: dict[str, str] = {}
        self._origins: dict[str, str] = {}
        self._tables: dict[str, str] = {}  # of the new columns

    def add(self, old: str, new: str, columns: Iterable[ColumnBelow]) -> None:
        for column in columns:
            moved = moved_name(column, old, new)
            if len(moved) > MAX_QUALIFIED_NAME:
                continue
            self._connect(column.qualified_name, moved)
            if column.attributes is not None and not self._was_deleted(column):
                if column.is_shown:
                    self._old[column.qualified_name] = column.name or ""
                if moved not in self._stated:
                    self.new[moved] = stated(self._event, moved, "column", _attributes(moved, column))
                    self._origins[moved], self._tables[moved] = column.qualified_name, new

    def origins(self) -> Mapping[str, str]:
        """By the names of the columns that are stated: the columns that they were before."""
        return self._origins

    def state_only(self, permitted: Collection[str]) -> None:
        """Leaves out all new columns but these, and the ends of the old ones. Edges connect all of them, so that tags
        move in any case."""
        for name in [name for name in self.new if name not in permitted]:
            del self.new[name]
            self._old.pop(self._origins.pop(name), None)

    def gone(self) -> dict[str, str]:
        """The names of the columns that are left behind, by qualified name."""
        return {name: own for name, own in self._old.items() if name not in self.new and name not in self._stated}

    def schemas(self) -> list[ClaimsEvent]:
        """The columns of each new name as a schema of the sender. They are stated late: what a newer event of the
        sender drops or replaces may have been carried out before, and their schema is compared with its."""
        scope = self._event.tables.scope
        columns: dict[str, dict[str, str]] = {}
        for name, stated_of in self.new.items():
            columns.setdefault(self._tables[name], {})[name] = stated_of.statement.attributes["name"]
        schemas = [self._schema(table, found) for table, found in columns.items()] if scope else []
        return [
            schema_event(self._event, schema)
            for schema in schemas
            if sum(map(len, schema.columns)) <= MAX_NAMES  # else the event may not fit into one record
        ]

    def _schema(self, table: str, columns: Mapping[str, str]) -> DatasetSchema:
        dataset, scope = ids.asset_id(self._event.tenant, table), self._event.tables.scope
        own = [schema.columns for schema in self._event.schemas if schema[:2] == (dataset, scope)]
        return DatasetSchema(
            dataset, scope, {name: own_name for one in (*own, columns) for name, own_name in one.items()}
        )

    def _was_deleted(self, column: ColumnBelow) -> bool:
        return column.is_deleted and column.last_at is not None and column.last_at < self._at

    def _connect(self, old: str, new: str) -> None:
        if old == new:
            return  # a column may be at its new place already, and an edge to itself would become a dead letter
        event = self._event
        key = EdgeKey(ids.asset_id(event.tenant, old), ids.asset_id(event.tenant, new), DERIVED_FROM)
        said = EdgeStatement("source", "upsert", key, {}, event.by, event.authorised, (old, new))
        self.edges[key] = EdgeEvent(
            ids.event_id(), event.time, event.tenant, said, correlation=event.correlation, trace=event.trace
        )


def moved_name(column: ColumnBelow, old: str, new: str) -> str:
    name = column.qualified_name
    is_below = name.startswith((f"{old}.", f"{old}/"))
    rest = name[len(old) + 1 :] if is_below else column.name or name.rpartition(".")[2]
    return f"{new}.{rest}"


def _attributes(name: str, column: ColumnBelow) -> dict[str, Any]:
    """What somebody has stated to be something else may have any name."""
    parent, _, own = name.rpartition(".")
    known = column.attributes or {}
    kept = {key: known[key] for key in _KEPT if known.get(key) is not None}
    return {"name": (known.get("name") if column.is_shown else None) or own, "parent": parent, **kept}


def schema_event(event: ClaimsEvent, schema: DatasetSchema) -> ClaimsEvent:
    """Its id makes it newer than the event, which may have a schema itself, and the same if it is stated again."""
    return ClaimsEvent(
        f"{event.id}-columns"[:MAX_EVENT_ID],
        event.time,
        event.tenant,
        event.job_id,
        event.run,
        complete=False,
        claims=(),
        by=event.by,
        authorised=event.authorised,
        schemas=(schema,),
        tables=NO_CHANGES if event.tables.limits is None else TableChanges(limits=event.tables.limits),
        correlation=event.correlation,
        trace=event.trace,
    )


def stated(event: ClaimsEvent, name: str, kind: str, attributes: dict[str, Any]) -> AssetEvent:
    return _event(event, _statement(event, "upsert", name, kind, attributes), event.time)


def deleted(event: ClaimsEvent, name: str, kind: str, own_name: str, time: str) -> AssetEvent:
    about = {"name": own_name or name.rpartition(".")[2]}
    return _event(event, _statement(event, "delete", name, kind, about), time)


def _statement(event: ClaimsEvent, operation: Operation, name: str, kind: str, about: dict[str, Any]) -> Statement:
    return Statement("source", operation, name, kind, about, by=event.by, authorised=event.authorised)


def _event(event: ClaimsEvent, statement: Statement, time: str) -> AssetEvent:
    return AssetEvent(ids.event_id(), time, event.tenant, statement, correlation=event.correlation, trace=event.trace)
