"""What is asked about a script, and what is answered: plain values that travel between processes as JSON."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

LONGEST_SQL = 256 * 1024  # characters


class Edge(NamedTuple):
    from_name: str
    to_name: str
    type: str


@dataclass(frozen=True, slots=True)
class KnownTable:
    """What the catalogue has under a table's name. Columns: their names in lower case, and their qualified names."""

    qualified_name: str
    columns: dict[str, str] = field(default_factory=dict)
    ordered: bool = False  # the columns are in the table's own order


@dataclass(frozen=True, slots=True)
class Question:
    """`known` is None where only the tables are asked for, so that the catalogue can be asked about them."""

    sql: str
    dialect: str
    database: str | None = None
    schema: str | None = None
    known: dict[str, KnownTable] | None = None

    def knowing(self, known: dict[str, KnownTable]) -> "Question":
        return replace(self, known=known)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_json(cls, given: dict[str, Any]) -> "Question":
        known = given.pop("known")
        tables = None if known is None else {name: KnownTable(**table) for name, table in known.items()}
        return cls(**given, known=tables)


@dataclass(frozen=True, slots=True)
class Answer:
    """`tables` maps each table's name in lower case to how it was written."""

    statements: int
    tables: dict[str, str]
    edges: list[Edge] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"edges": [list(edge) for edge in self.edges]}

    @classmethod
    def of_json(cls, given: dict[str, Any]) -> "Answer":
        edges = [Edge(*edge) for edge in given.pop("edges")]
        return cls(**given, edges=edges)
