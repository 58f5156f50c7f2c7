"""Warehouses in which a policy can ask whose session it is: one function for the rows, and one per masked column."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlglot import exp

from lily.connect.enforcers.access import Cell
from lily.connect.enforcers.warehouses.conditions import shown_value, visible_rows
from lily.connect.enforcers.warehouses.masks import Functions, masked
from lily.connect.enforcers.warehouses.row_filters import Unusable, column_type, filter_columns, written
from lily.connect.enforcers.warehouses.scripts import Scripted, Verb, own_name
from lily.connect.enforcers.warehouses.tables import Column, Needs, Subject, WarehouseTable
from lily.connect.enforcers.warehouses.types import ColumnType, parse_type

VALUE = "val"  # the argument of a mask


class Policy(NamedTuple):
    """Something that is made for a table: its quoted name, its arguments with their types, and its expression. The name
    contains a hash of the rest, so a policy never changes while it is attached."""

    name: str
    arguments: str
    body: str


class SessionPolicies(Scripted):
    def __init__(self, schema: str, *, grants: bool) -> None:
        self._schema, self._grants_too = schema, grants

    @property
    def _with_grants(self) -> bool:
        return self._grants_too

    @property
    @abstractmethod
    def _dialect(self) -> str:
        """Of sqlglot."""

    @property
    @abstractmethod
    def _functions(self) -> Functions: ...

    @abstractmethod
    def _quoted(self, *names: str) -> str: ...

    @abstractmethod
    def _is(self, subject: Subject) -> str:
        """A condition: whether the session is the subject's."""

    @abstractmethod
    def _grantee(self, subject: Subject) -> str:
        """Empty for a subject to which nothing can be granted."""

    @abstractmethod
    def _with_rows(self, table: str, policy: Policy, columns: str) -> Iterable[str]: ...

    @abstractmethod
    def _without_rows(self, noun: str, table: str) -> Iterable[str]: ...

    @abstractmethod
    def _with_mask(self, table: str, column: str, policy: Policy, kind: str) -> Iterable[str]: ...

    @abstractmethod
    def _without_mask(self, noun: str, table: str, column: str) -> Iterable[str]: ...

    def _test(self, subjects: Iterable[Subject]) -> str:
        return " OR ".join(map(self._is, subjects))

    def _needs(self) -> Needs:
        return Needs(lambda text: parse_type(text, self._dialect), self._flaw, types=True)

    def _flaw(self, row_filter: str, types: Mapping[str, ColumnType | None]) -> str:
        try:
            self._argument_types([row_filter], types)
            written(row_filter, self._dialect, lambda _: exp.column("a"))
        except Unusable as error:
            return str(error)
        return ""

    def _prepared(self, tables: Sequence[WarehouseTable]) -> Iterator[str]:
        for table in tables:
            if not table.is_withdrawn:
                yield f"CREATE SCHEMA IF NOT EXISTS {self._quoted(table.path[0], self._schema)}"

    def _statements(self, table: WarehouseTable) -> Iterator[str]:
        name = self._quoted(*table.path)
        if table.is_withdrawn:
            yield from self._without_rows(table.noun, name)
        else:
            yield from self._grants(table, "REVOKE", table.sights)
            yield from self._rows(table)
            for place, column in enumerate(table.columns):
                yield from self._mask(table, place, column)
        for released in table.released:
            yield from self._without_mask(table.noun, name, self._quoted(released))
        allowed = [subject for subject, sight in table.sights.items() if not sight.denied]
        yield from self._grants(table, "GRANT", allowed)

    def _grant(self, table: WarehouseTable, verb: Verb, subject: Subject) -> str:
        grantee, preposition = self._grantee(subject), "TO" if verb == "GRANT" else "FROM"
        name = self._quoted(*table.path)
        return f"{verb} SELECT ON {table.noun} {name} {preposition} {grantee}" if grantee else ""

    def _rows(self, table: WarehouseTable) -> Iterator[str]:
        filters = sorted({one for sight in table.sights.values() if not sight.denied for one in sight.filters})
        compared = self._argument_types(filters, table.types)
        types = compared or self._unused(table)
        if types is None:
            table.note("who is not named by a policy can read its rows if granted: no column of it is known to Lily")
            return
        names = {name: f"a{number}" for number, name in enumerate(types, 1)}
        body = visible_rows(
            table, self._test, lambda one: written(one, self._dialect, lambda name: exp.column(names[name]))
        )
        arguments = ", ".join(f"{names[name]} {kind.sql}" for name, kind in types.items())
        policy = Policy(self._own(table, "rows", arguments, body), arguments, body)
        yield from self._with_rows(self._named(table), policy, ", ".join(map(self._quoted, types)))

    def _unused(self, table: WarehouseTable) -> dict[str, ColumnType] | None:  # noqa: ARG002 - of those that need none
        """The arguments of a policy that compares no column; None if it cannot be without one."""
        return {}

    def _argument_types(self, filters: Sequence[str], known: Mapping[str, ColumnType | None]) -> dict[str, ColumnType]:
        return {
            name: column_type(one, name, self._dialect, known)
            for one in filters
            for name in filter_columns(one, self._dialect)
        }

    def _mask(self, table: WarehouseTable, place: int, column: Column) -> Iterator[str]:
        if column.type is None:
            return
        kind = column.type

        def value(cell: Cell) -> str | None:
            return masked(VALUE, kind, cell, self._functions)

        body, arguments = shown_value(table, place, self._test, value), f"{VALUE} {kind.sql}"
        policy = Policy(self._own(table, column.name, arguments, body), arguments, body)
        yield from self._with_mask(self._named(table), self._quoted(column.name), policy, kind.sql)

    def _named(self, table: WarehouseTable) -> str:
        """With the word that says what it is."""
        return f"{table.noun} {self._quoted(*table.path)}"

    def _own(self, table: WarehouseTable, *parts: str) -> str:
        return self._quoted(table.path[0], self._schema, own_name(table.path, *parts))
