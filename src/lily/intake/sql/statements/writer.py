"""Records what a statement writes: edges, the columns of new tables, and the contents of temporary ones."""

from lily.intake.sql.graph import Graph
from lily.intake.sql.relations.catalogue import Tables
from lily.intake.sql.relations.columns import NO_ORIGINS, Column, Field, Origins, Rest
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.unions import unite
from lily.intake.sql.statements.target import Target


class Writer:
    def __init__(self, tables: Tables, graph: Graph) -> None:
        self.tables = tables
        self.graph = graph
        self._temporary = 0  # how often temporary tables were written
        self.warnings: dict[str, None] = {}
        self.defined: list[str] = []  # tables that the statement makes
        self.filled: list[str] = []  # temporary tables that it writes
        self.copies: dict[str, list[Rest]] = {}  # tables that have the unknown columns of other tables
        self.contents: dict[str, str | None] = {}  # of renamed tables: the name before the script; None if made by it
        self._moves = 0

    @property
    def changes(self) -> int:
        """Grows with every statement that has lineage."""
        return self.graph.additions + self._temporary + self._moves

    def begin_statement(self) -> None:
        self.warnings.clear()
        self.defined.clear()
        self.filled.clear()

    def define(self, target: Target, rows: Relation) -> None:
        """The statement makes the table with the columns of the rows."""
        fields = _numbered(rows, target.columns)
        named = Relation(fields, rows.tables, rows.influences, rows.hidden, rows.every)
        if target.temporary:
            self._fill(target.key)
            self.tables.forget(target.key)
            self.tables.temporary[target.key] = named
            return
        self.forget(target.key)
        self.copies.pop(target.key, None)
        self.defined.append(target.key)
        self.graph.begin_definition(target.key)
        if target.key in rows.tables:  # made from its own rows, it keeps the sources of these
            self.graph.doubt(target.key)
        self._record(target.key, named, target.key)
        self.tables.define(target.key, [field.name for field in named.fields if field.name], complete=not rows.is_open)

    def declare(self, target: Target, columns: list[str], *, complete: bool) -> None:
        """The statement makes the table without rows."""
        self.forget(target.key)
        if target.temporary:
            every = None if complete else NO_ORIGINS
            self.tables.temporary[target.key] = Relation([Field(name) for name in columns], every=every)
        elif columns:
            self.tables.define(target.key, columns, complete=complete)

    def forget(self, table: str) -> None:
        """The table is dropped, or made anew."""
        self.tables.forget(table)
        self.contents.pop(table, None)

    def move(self, names: dict[str, str]) -> None:
        """Tables get other names, at the same time."""
        moved = {new: self._content(old) for old, new in names.items()}
        for old in names:
            self.contents.pop(old, None)
        self.contents |= moved
        self._moves += any(moved.values())

    def _content(self, table: str) -> str | None:
        if table in self.contents:
            return self.contents[table]
        made = self.tables.is_made(table) or table in self.graph.defined
        return None if made else table

    def insert(self, target: Target, rows: Relation, *, by_name: bool = False) -> None:
        named = self._matched(target, rows, by_name=by_name)
        if target.temporary or target.key in self.tables.temporary:
            self._fill(target.key)
            known = self.tables.temporary.get(target.key)
            self.tables.temporary[target.key] = named if known is None else unite(known, named, by_name=True)
        else:
            self._record(target.key, named, None)

    def _fill(self, table: str) -> None:
        self._temporary += 1
        self.filled.append(table)

    def influence(self, target: Target, rows: Relation) -> None:
        """The statement deletes rows: other tables decide which."""
        for column in sorted(rows.influences):
            if target.key not in self.tables.temporary:
                self.graph.influence(column, target.key)

    def _matched(self, target: Target, rows: Relation, *, by_name: bool) -> Relation:
        """The rows under the names of the target's columns."""
        names = target.columns
        if names is None and not by_name:
            names = self._positions(target, rows)
        if names is None and any(field.origins and not field.name for field in rows.fields):
            self.warnings[f"columns of {target.key} are not known, so those without a name in the query are lost"] = (
                None
            )
        items = list(rows.items) if names is None else self._by_position(target, rows, names)
        return Relation(items, rows.tables, rows.influences)

    def _positions(self, target: Target, rows: Relation) -> list[str] | None:
        temporary = self.tables.temporary.get(target.key)
        if temporary is not None:
            return [field.name for field in temporary.fields] if not temporary.is_open else None
        ordered = self.tables.ordered_columns(target.key)
        if ordered is not None and not rows.is_open and len(ordered) >= len(rows.fields):
            return ordered
        if self.tables.columns(target.key):
            self.warnings[f"the order of the columns of {target.key} is not known, so they are matched by name"] = None
        return None

    def _by_position(self, target: Target, rows: Relation, names: list[str]) -> list[Field | Rest]:
        positions = rows.positions()
        if len(positions) < len(names) and rows.is_open:
            missing = ", ".join(names[len(positions) :][:10])
            self.warnings[f"the columns of * are not known, so nothing is known of {missing} of {target.key}"] = None
        return [field.renamed(name) for name, field in zip(names, positions, strict=False)]

    def _record(self, target: str, rows: Relation, defines: str | None) -> None:
        for table in rows.tables:
            self.graph.derive(table, target, defines=defines)
        for field in rows.fields:
            if field.name:
                self._record_field(target, field, defines)
        shown: Origins = frozenset().union(*(field.origins for field in rows.fields))
        for column in sorted(rows.influences - shown):
            self.graph.influence(column, target, defines=defines)
        if rows.is_open:
            self.copies[target] = rows.rests

    def _record_field(self, target: str, field: Field, defines: str | None) -> None:
        name, *path = field.name.split(".") if self._is_path(target, field.name) else [field.name]
        end = self.tables.nested(Column(target, name), path)
        for origin in sorted(field.origins):
            self.graph.derive(origin, end, defines=defines)
            for below in self.tables.fields_below(origin) if field.copied else ():
                start = Column(origin.table, f"{origin.name}.{below}")
                self.graph.derive(start, self._below(end, below), defines=defines)

    def _is_path(self, target: str, name: str) -> bool:
        return "." in name and name not in self.tables.columns(target)

    def _below(self, end: Column, path: str) -> Column:
        """The field of the target that a nested field of the source is copied to."""
        if self.tables.columns(end.table) and end.table in self.tables.known:
            return self.tables.nested(end, path.split("."))
        return Column(end.table, f"{end.name}.{path}")


def _numbered(rows: Relation, names: list[str] | None) -> list[Field | Rest]:
    if names is None or len(names) < len(rows.items):  # MySQL: the definitions of some columns
        return list(rows.items)
    positions = rows.positions()
    named: list[Field | Rest] = [field.renamed(name) for name, field in zip(names, positions, strict=False)]
    return named + [Field(name) for name in names[len(positions) :]]
