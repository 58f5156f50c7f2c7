"""Requests to the analyzer process and its results: plain values that are exchanged as JSON."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, NamedTuple

Status = Literal["understood", "partial", "not_understood"]
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
    ordered: bool = False  # the columns are all there are, in the table's order
    nested: dict[str, str] = field(default_factory=dict)  # fields of structs, by their path: `address.city`
    deleted: dict[str, str] = field(default_factory=dict)  # columns that are not of `*`, and follow a rename
    is_asset: bool = True  # False if only edges have named it


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """`known` is None in a first request, which only lists the tables so that the catalogue can be read. Unless it
    `expands`, the catalogue only spells the names that the script has itself: `*` stands for nothing."""

    sql: str
    dialect: str
    database: str | None = None
    schema: str | None = None
    known: dict[str, KnownTable] | None = None
    target: str | None = None  # the key of the table that a query without a target of its own writes
    expands: bool = True

    def with_tables(self, known: dict[str, KnownTable]) -> "AnalysisRequest":
        return replace(self, known=known)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "AnalysisRequest":
        known = given.pop("known")
        tables = None if known is None else {name: KnownTable(**table) for name, table in known.items()}
        return cls(**given, known=tables)


class Outcome(NamedTuple):
    """What became of a statement; `reason` is None if it has edges."""

    statement: int
    line: int
    column: int
    status: Status
    reason: str | None


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """`tables` maps each table's name in lower case to its spelling in the script. `definitions` has, for each edge,
    the table or view whose definition states it, or None. `made` has the columns, in order, of each table that the
    script defines, if all of them are known. `named` has those that it names of each table that it defines, if nothing
    but what `*` stands for may be missing. `without_sources` are the tables and views whose definition reads none:
    those that it replaces may have had some."""

    statements: int
    tables: dict[str, str]
    edges: list[Edge] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    definitions: list[str | None] = field(default_factory=list)
    understood: int = 0
    partial: int = 0
    not_understood: int = 0
    without_edges: list[Outcome] = field(default_factory=list)
    made: dict[str, list[str]] = field(default_factory=dict)
    without_sources: list[str] = field(default_factory=list)
    named: dict[str, list[str]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        lists = {"edges": [list(edge) for edge in self.edges], "without_edges": [list(o) for o in self.without_edges]}
        return asdict(self) | lists

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "AnalysisResult":
        edges = [Edge(*edge) for edge in given.pop("edges")]
        outcomes = [Outcome(*outcome) for outcome in given.pop("without_edges")]
        return cls(**given, edges=edges, without_edges=outcomes)
