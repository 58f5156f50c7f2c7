"""The edges of a script, by the names that the script uses; the catalogue's names are added at the end."""

from collections.abc import Iterable, Iterator

from lily.intake.sql.protocol import Edge, KnownTable
from lily.intake.sql.relations.columns import Column
from lily.model.edges import DERIVED_FROM, INFLUENCES, MAX_CLAIMS
from lily.model.errors import Problem, Refused

MAX_EDGES = 50_000  # of a script; of one definition as many as one event can claim
End = Column | str  # a column, or a table
Pair = tuple[End, End, str]


class Graph:
    """Edges that the definition of a table states are kept with it: a later definition replaces them."""

    def __init__(self) -> None:
        self.defined: dict[str, dict[Pair, None]] = {}
        self.stated: dict[Pair, None] = {}
        self._written: set[str] = set()
        self._uncertain: set[str] = set()
        self.additions = 0  # also of edges that were there already

    def begin_definition(self, target: str) -> None:
        self.defined[target] = {}
        self._uncertain.discard(target)

    def doubt(self, target: str) -> None:
        """The definition was not understood in full, so it may have more edges."""
        self._uncertain.add(target)

    def without_sources(self) -> list[str]:
        """The tables that are defined, and for certain without any edge."""
        return [target for target, pairs in self.defined.items() if not pairs and target not in self._uncertain]

    def derive(self, start: End, end: End, *, defines: str | None = None) -> None:
        self._add((start, end, DERIVED_FROM), defines)

    def influence(self, start: Column, table: str, *, defines: str | None = None) -> None:
        if start.table != table:
            self._add((start, table, INFLUENCES), defines)

    def shows(self, start: Column, table: str, *, defines: str | None) -> None:
        """A column that the table has does not only influence it."""
        (self.stated if defines is None else self.defined[defines]).pop((start, table, INFLUENCES), None)

    def rename(self, names: dict[str, str]) -> None:
        """Rows that the script wrote to a table are in the table of its new name. What was read from a table that the
        script did not write was read under its old name."""
        starts = {old: new for old, new in names.items() if self.writes(old)}
        replaced = set(starts.values())
        self._written = {names.get(table, table) for table in self._written}
        self._uncertain = {names.get(table, table) for table in self._uncertain}
        self.stated = {
            _renamed(pair, starts, names): None
            for pair in self.stated
            if _table(pair[1]) not in replaced - starts.keys()
        }
        self.defined = {
            names.get(target, target): {_renamed(pair, starts, names): None for pair in pairs}
            for target, pairs in self.defined.items()
            if target not in replaced or target in starts
        }

    def __len__(self) -> int:
        return len(self.stated) + sum(map(len, self.defined.values()))

    def pairs(self) -> Iterator[tuple[Pair, str | None]]:
        """Every edge once, with the table whose definition states it."""
        yield from ((pair, None) for pair in self.stated if pair[0] != pair[1])
        for target, pairs in self.defined.items():
            yield from ((pair, target) for pair in pairs if pair not in self.stated and pair[0] != pair[1])

    def writes(self, table: str) -> bool:
        return table in self._written

    def _add(self, pair: Pair, defines: str | None) -> None:
        if pair[0] == pair[1]:
            return
        self._written.add(_table(pair[1]))
        self.additions += 1
        (self.stated if defines is None else self.defined.setdefault(defines, {}))[pair] = None
        if len(self.stated) > MAX_EDGES or (defines and len(self.defined[defines]) > MAX_CLAIMS):
            raise too_many_edges()


class Names:
    """The catalogue's names of tables and columns. If `paths_are_local`, a path without a scheme is of a machine, and
    has the name that OpenLineage's namespace `file` gives it."""

    def __init__(self, known: dict[str, KnownTable], *, paths_are_local: bool = False) -> None:
        self._known, self._paths_are_local = known, paths_are_local

    def edge(self, pair: Pair) -> Edge:
        return Edge(self._of(pair[0]), self._of(pair[1]), pair[2])

    def edges(self, pairs: Iterable[Pair]) -> list[Edge]:
        found = [edge for edge in map(self.edge, pairs) if edge.from_name != edge.to_name]
        if len(found) > MAX_EDGES:
            raise too_many_edges()
        return found

    def table(self, key: str) -> str:
        if key in self._known:
            return self._known[key].qualified_name
        return f"file://{key}" if self._paths_are_local and key.startswith("/") else key

    def _of(self, end: End) -> str:
        if isinstance(end, str):
            return self.table(end)
        known = self._known.get(end.table)
        stored = (known.columns, known.nested, known.deleted) if known is not None else ()
        own = next((names[end.name] for names in stored if end.name in names), None)
        return own or f"{self._ancestor(end, known)}.{end.name}"

    def _ancestor(self, column: Column, known: KnownTable | None) -> str:
        return known.qualified_name if known is not None else self.table(column.table)


def too_many_edges() -> Refused:
    return Refused(Problem("TOO_LONG", f"the script has more than {MAX_EDGES} edges; split it", "sql"))


def _table(end: End) -> str:
    return end if isinstance(end, str) else end.table


def _renamed(pair: Pair, starts: dict[str, str], ends: dict[str, str]) -> Pair:
    return _with_name(pair[0], starts), _with_name(pair[1], ends), pair[2]


def _with_name(end: End, names: dict[str, str]) -> End:
    if isinstance(end, str):
        return names.get(end, end)
    return Column(names.get(end.table, end.table), end.name)
