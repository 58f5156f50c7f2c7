"""The names that an expression can use: the sources of its query, and those of the queries around it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlglot import exp

from lily.intake.sql.relations.catalogue import Tables
from lily.intake.sql.relations.columns import EXACT, LISTED, Field, Match
from lily.intake.sql.relations.names import table_key
from lily.intake.sql.relations.relation import Relation, best

# Names that engines define. They look like columns.
_PSEUDO = frozenset(
    {"rownum", "level", "sysdate", "systimestamp", "rowid", "user", "current_date", "current_timestamp", "session_user"}
    | {"current_user", "current_time", "localtime", "localtimestamp", "sqlcode", "sqlerrm", "default", "nextval"}
    | {"currval", "_partitiontime", "_partitiondate", "$action", "true", "false", "null", "ctid", "xmin"}
)


class Source(NamedTuple):
    name: str
    parts: tuple[str, ...]  # the table's name as written; empty if it has an alias
    relation: Relation
    in_star: bool = True
    table: str = ""  # the last part of the table's name, also if it has an alias


@dataclass(slots=True)
class Session:
    """What does not change within a statement."""

    tables: Tables
    read: Callable[[exp.Expr, "Scope"], Relation]
    database: str | None = None
    schema: str | None = None
    lateral_aliases: bool = False
    unknown: dict[str, None] = field(default_factory=dict)  # columns whose table is not known
    notes: dict[str, None] = field(default_factory=dict)  # what else is not followed
    stars: dict[str, None] = field(default_factory=dict)  # tables whose `*` is not known to be complete
    variables: frozenset[str] = frozenset()
    queried: frozenset[str] = frozenset()  # variables whose value comes from a query
    rows: Mapping[str, Callable[[], Relation]] = field(default_factory=dict)  # variables of loops over queries
    named: dict[str, str] = field(default_factory=dict)  # tables that are read, and how they are written

    def key(self, table: exp.Table) -> str:
        return table_key(table, self.database, self.schema)


class Common:
    """A common table expression, which is read when it is used."""

    def __init__(self, read: Callable[[], Relation]) -> None:
        self._read, self._relation = read, None

    def relation(self) -> Relation:
        if self._relation is None:
            self._relation = self._read()
        return self._relation

    _relation: Relation | None


class Scope:
    def __init__(self, session: Session, outer: "Scope | None" = None) -> None:
        self.session = session
        self.outer = outer
        self.sources: list[Source] = []
        self.common: dict[str, Common] = {}
        self.merged: dict[str, Field] = {}  # columns of JOIN … USING
        self.constants: dict[str, Field] = {}  # ClickHouse: `with (select …) as x`
        self.read_by_constants: list[Relation] = []
        self.aliases: dict[str, Field] = {}  # of the SELECT list

    def common_table(self, name: str) -> Common | None:
        return next((scope.common[name] for scope in self._chain() if name in scope.common), None)

    def source(self, parts: Sequence[str]) -> tuple[Relation, list[str]] | None:
        """The source that a qualified name begins with, and the rest of the name."""
        for scope in self._chain():
            for length in range(1, min(4, len(parts))):
                for source in scope.sources:
                    if _is_named(source, parts[:length]):
                        return source.relation, list(parts[length:])
        return self._by_table(parts)

    def _by_table(self, parts: Sequence[str]) -> tuple[Relation, list[str]] | None:
        """A table that has an alias, but is named as if it had none."""
        found = [source.relation for source in self.sources if source.table and source.table == parts[0]]
        return (found[0], list(parts[1:])) if len(found) == 1 else None

    def column(self, name: str) -> Field | None:
        """A column without the name of its table; None if it is not known which table has it."""
        opening: Match | None = None
        for scope in self._chain():
            found = scope.own(name)
            if found is not None and found.openness == EXACT:
                if opening is None or opening.openness <= LISTED:
                    return found.field
            elif found is not None and opening is None:
                opening = found
        if opening is None or self.is_defined_elsewhere(name):
            return None
        self.used(opening.field)
        return opening.field

    def is_defined_elsewhere(self, name: str) -> bool:
        """By the engine, or as a variable of the script."""
        return name in _PSEUDO or name in self.session.variables

    def has(self, name: str) -> bool:
        """Whether a source is known to have the column."""
        return any(found.openness == EXACT for scope in self._chain() if (found := scope.own(name)) is not None)

    def whole_row(self, name: str) -> Relation | None:
        """The source of an expression such as `row_to_json(orders)`. A column of an unknown table comes first."""
        sources = (source for scope in self._chain() for source in scope.sources if source.name == name)
        return next((source.relation for source in sources if not source.parts or source.relation.fields), None)

    def used(self, found: Field) -> None:
        for column in found.origins:
            self.session.tables.use(column)

    def own(self, name: str) -> Match | None:
        """The column of a source of this query, or one that its SELECT list names."""
        if name in self.merged:
            return Match(EXACT, self.merged[name])
        matches = [match for source in self.sources if (match := source.relation.find(name)) is not None]
        named = self.aliases.get(name) or self.constants.get(name)
        if not any(match.openness == EXACT for match in matches) and named is not None:
            return Match(EXACT, named)
        return best(matches) or best(self._used_before(matches))

    def _used_before(self, matches: list[Match]) -> Iterator[Match]:
        tables = self.session.tables
        yield from (match for match in matches if any(tables.is_used(*column) for column in match.field.origins))

    def _chain(self) -> Iterator["Scope"]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


def _is_named(source: Source, parts: Sequence[str]) -> bool:
    if len(parts) == 1:
        return source.name == parts[0]
    return source.parts[-len(parts) :] == tuple(parts)
