"""Requests to the analyzer process and its results: plain values that are exchanged as JSON."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

MAX_SQL_LENGTH = 256 * 1024  # characters


class Edge(NamedTuple):
    from_name: str
    to_name: str
    type: str


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table in the catalogue. `columns` maps a column's name in lower case to its qualified name."""

    qualified_name: str
    columns: dict[str, str] = field(default_factory=dict)
    ordered: bool = False  # whether the columns are in the table's order


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """`known` is None in a first request, which only lists the tables so that the catalogue can be read."""

    sql: str
    dialect: str
    database: str | None = None
    schema: str | None = None
    known: dict[str, KnownTable] | None = None

    def with_tables(self, known: dict[str, KnownTable]) -> "AnalysisRequest":
        return replace(self, known=known)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "AnalysisRequest":
        known = given.pop("known")
        tables = None if known is None else {name: KnownTable(**table) for name, table in known.items()}
        return cls(**given, known=tables)


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """`tables` maps each table's name in lower case to its spelling in the script."""

    statements: int
    tables: dict[str, str]
    edges: list[Edge] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"edges": [list(edge) for edge in self.edges]}

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "AnalysisResult":
        edges = [Edge(*edge) for edge in given.pop("edges")]
        return cls(**given, edges=edges)
