"""The tables that a script can read: those of the catalogue, those that it made itself, and its temporary ones."""

from collections.abc import Sequence
from typing import Any

from lily.intake.sql.protocol import KnownTable
from lily.intake.sql.relations.columns import HINTED, LISTED, UNKNOWN, Column, Field, Rest
from lily.intake.sql.relations.relation import Relation


class Tables:
    """`known` are those of the catalogue. Unless the catalogue `expands`, their columns are inferred from their use."""

    def __init__(self, known: dict[str, KnownTable], *, expands: bool = True) -> None:
        self.known, self.expands = known, expands
        self.temporary: dict[str, Relation] = {}
        self.read: set[str] = set()  # temporary tables whose rows are used
        self.used: dict[str, dict[str, None]] = {}  # columns that a script names, of tables that may have more
        self._made: dict[str, tuple[list[str], bool]] = {}  # by the script: columns, and whether these are all

    def define(self, key: str, columns: Sequence[str], *, complete: bool) -> None:
        self._made[key] = (list(columns), complete)

    def made(self) -> dict[str, list[str]]:
        """The columns of the tables that the script has made, without those of which some are not known."""
        return {key: columns for key, (columns, complete) in self._made.items() if complete}

    def named(self) -> dict[str, list[str]]:
        """The columns of the tables that the script has made, as far as they are known."""
        return {key: columns for key, (columns, _) in self._made.items()}

    def forget(self, key: str) -> None:
        self.temporary.pop(key, None)
        self._made.pop(key, None)

    def rename(self, old: str, new: str) -> None:
        self.forget(new)
        if old in self.temporary:
            self.read.add(old)
            self.temporary[new] = self.temporary.pop(old)
        if old in self._made:
            self._made[new] = self._made.pop(old)

    def swap(self, one: str, other: str) -> None:
        for made in (self.temporary, self._made):
            contents: dict[str, Any] = {name: made.pop(name) for name in (one, other) if name in made}
            made.update({other if name == one else one: content for name, content in contents.items()})

    def is_made(self, key: str) -> bool:
        """Whether the script has made it."""
        return key in self._made or key in self.temporary

    def is_known(self, key: str) -> bool:
        is_asset = key in self.known and self.known[key].is_asset
        return is_asset or key in self._made or key in self.temporary

    def columns(self, key: str) -> list[str]:
        if key in self._made:
            return self._made[key][0]
        return list(self.known[key].columns) if key in self.known and self.expands else []

    def ordered_columns(self, key: str) -> list[str] | None:
        """All columns of a table by position; None if they are not known."""
        if key in self._made:
            columns, complete = self._made[key]
            return columns if complete else None
        known = self.known.get(key) if self.expands else None
        return list(known.columns) if known is not None and known.ordered and known.columns else None

    def relation(self, key: str) -> Relation:
        if key in self.temporary:
            self.read.add(key)
            return self.temporary[key]
        fields: list[Field | Rest] = [
            Field(name, frozenset({Column(key, name)}), copied=True) for name in self.columns(key)
        ]
        if key in self._made and self._made[key][1]:
            return Relation(fields, {key: None})
        if self.ordered_columns(key):
            return Relation(fields, {key: None}, hidden=Rest.of(key, LISTED))
        return Relation([*fields, Rest.of(key, HINTED if fields else UNKNOWN)], {key: None})

    def columns_before(self, key: str) -> list[str]:
        """The columns that a table had before the script, as far as the catalogue has them or the script names them,
        with nested fields and deleted columns: these may have tags that nobody with authority has ended."""
        known = self.known.get(key) if self.expands else None
        used = () if self.is_made(key) else self.used.get(key, ())  # else these may be of what the script made
        stored = (known.columns, known.nested, known.deleted) if known else ()
        return list(dict.fromkeys([*(name for names in stored for name in names), *used]))

    def use(self, column: Column) -> None:
        if column.name.startswith("metadata$"):
            return  # Snowflake adds these to every stream
        self.used.setdefault(column.table, {})[column.name] = None

    def is_used(self, table: str, name: str) -> bool:
        return name in self.used.get(table, ())

    def nested(self, column: Column, path: Sequence[str]) -> Column:
        """The field at a path below a column, or its nearest ancestor that the catalogue has."""
        known = self.known.get(column.table)
        for length in range(len(path), 0, -1):
            name = ".".join((column.name, *path[:length]))
            if known is not None and name in known.nested:
                return Column(column.table, name)
        return column

    def children(self, column: Column) -> dict[str, Column]:
        """The fields directly below a column that the catalogue has."""
        known, start = self.known.get(column.table), f"{column.name}."
        below = [name[len(start) :] for name in known.nested if name.startswith(start)] if known is not None else []
        return {name: Column(column.table, start + name) for name in below if "." not in name}

    def fields_below(self, column: Column) -> list[str]:
        """The paths of the nested fields of a column."""
        known, start = self.known.get(column.table), f"{column.name}."
        if known is None or not self.expands:
            return []
        return [name[len(start) :] for name in known.nested if name.startswith(start)]
