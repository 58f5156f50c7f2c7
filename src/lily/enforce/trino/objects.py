"""Trino's objects as questions: which assets they are, and which of them Trino itself protects."""

from collections.abc import Iterable, Sequence

from lily.enforce.questions import Names, Question, Rule, in_doubt
from lily.model.engine_names import EngineMapping, stored_form
from lily.policy import Action

SYSTEM = "system"  # the catalogue that describes the engine, and the asset that stands for the right to operate it
INFORMATION_SCHEMA = "information_schema"
BUILTIN = "builtin"
# Connectors describe the table `people` in `people$files` and `people$partitions`, with values of its columns. No
# policy is about these, so they are not readable as something that Lily does not know, and whatever somebody ingested
# under such a name, they need the table that they describe as a whole.
OF_ANOTHER = "$"
# Trino shows of these what the user may see of the objects that they describe, so they need no right of their own.
_FILTERED_SCHEMAS = frozenset({"jdbc", "metadata", INFORMATION_SCHEMA})
_FILTERED_TABLES = frozenset({("runtime", "queries")})
Path = tuple[str, ...]
MAX_KEPT_COLUMNS = 100_000  # questions about columns that are kept, about 300 bytes each


class ObjectNames:
    """The qualified names of Trino's objects. What Trino calls `a.b.c` is the asset of that name, unless a mapping
    states otherwise; where the mappings of several data sources do, it may be any of theirs."""

    def __init__(self, mappings: Iterable[EngineMapping]) -> None:
        self._mapped: dict[str, list[str]] = {}
        self._kept: dict[tuple[Action, Path, tuple[str, ...]], list[Question]] = {}
        self._kept_columns = 0
        for mapping in mappings:
            self._mapped.setdefault(mapping.engine_name.casefold(), []).append(mapping.asset_name)
        # The most parts that a mapped name has: a mapping of a single column is rare, but may exist.
        self._deepest = max((name.count(".") + 1 for name in self._mapped), default=0)

    def of(self, path: Sequence[str]) -> Names:
        return tuple(dict.fromkeys(map(stored_form, self._written(path))))

    def _written(self, path: Sequence[str]) -> Names:
        name = ".".join(path)
        if not self._mapped:
            return (name,)
        for end in range(len(path), 0, -1):
            start = ".".join(path[:end])
            if found := self._mapped.get(start.casefold()):
                return tuple(dict.fromkeys(asset + name[len(start) :] for asset in found))
        return (name,)

    def question(self, action: Action, path: Path, rule: Rule = "known") -> Question:
        above = tuple(self.of(path[:end]) for end in range(len(path) - 1, 0, -1)) if rule == "new" else ()
        return Question(action, self.of(path), rule, above)

    def table(self, action: Action, path: Path, rule: Rule = "known") -> Question:
        """Of a table, or of one of the tables in which Trino describes itself."""
        catalog, schema, table = path
        if catalog == SYSTEM or schema == INFORMATION_SCHEMA:
            is_filtered = schema in _FILTERED_SCHEMAS or (schema, table) in _FILTERED_TABLES
            if is_filtered and action == "READ":
                return self.question(action, (catalog,), "container")
            return operator(action)
        if OF_ANOTHER not in table:
            return self.question(action, path, rule)
        question = self.question(action, path, "strict" if rule == "known" else rule)
        return question._replace(whole=self._of_all(described(path))) if action == "READ" else question

    def _of_all(self, paths: Iterable[Path]) -> Names:
        return tuple(dict.fromkeys(name for path in paths for name in self.of(path)))

    def columns(self, action: Action, path: Path, columns: Sequence[str]) -> list[Question]:
        """The table's own question first, then one for each column. Trino asks about the same columns with every query,
        so the questions are kept."""
        key = (action, path, tuple(columns))
        found = self._kept.get(key)
        if found is None:
            if self._kept_columns > MAX_KEPT_COLUMNS:
                self._kept, self._kept_columns = {}, 0
            found = self._kept[key] = self._columns(action, path, columns)
            self._kept_columns += len(columns) + 1  # a query may name no column
        return found

    def _columns(self, action: Action, path: Path, columns: Sequence[str]) -> list[Question]:
        table = self.table(action, path)
        if describes_engine(path):
            return [table, *([table] * len(columns))]
        # A table whose name ends with a space is stored without it, its columns are not.
        tables = tuple(dict.fromkeys((*self._written(path), *table.names)))
        if len(path) < self._deepest:
            below = [self.of((*path, column)) for column in columns]
        elif len(tables) == 1:
            below = [(stored_form(f"{tables[0]}.{column}"),) for column in columns]
        else:
            below = [tuple(dict.fromkeys(stored_form(f"{name}.{column}") for name in tables)) for column in columns]
        above = [in_doubt(column, table.names) for column in columns]
        asked = zip(below, above, strict=True)
        return [table, *(Question(action, names, "known", one, True) for names, one in asked)]


def described(path: Path) -> list[Path]:
    """The tables that this one may describe: connectors differ in which of several signs begins the suffix."""
    *above, name = path
    found = {name.partition(OF_ANOTHER)[0], name.rpartition(OF_ANOTHER)[0]} if OF_ANOTHER in name else set()
    return [(*above, base) for base in sorted(found) if base]


def describes_engine(path: Path) -> bool:
    return path[0] == SYSTEM or path[1] == INFORMATION_SCHEMA


def is_builtin(path: Path) -> bool:
    return path[:2] == (SYSTEM, BUILTIN)


def operator(action: Action) -> Question:
    return Question(action, (SYSTEM,), "strict")
