"""Columns of tables, and the columns of a query with their origins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Column(NamedTuple):
    """A column of a table; the name of a nested field has its path: `address.city`."""

    table: str
    name: str


Origins = frozenset[Column]
NO_ORIGINS: Origins = frozenset()


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a query."""

    name: str
    origins: Origins = NO_ORIGINS
    copied: bool = False  # the value is that of its only origin, so it has the same nested fields
    parts: Mapping[str, "Field"] | None = None  # of a struct that the query builds, or of a row that it uses as one
    rests: tuple["Rest", ...] = ()  # of such a row: the columns that are not known

    def renamed(self, name: str) -> "Field":
        return Field(name, self.origins, self.copied, self.parts, self.rests)

    def merged(self, other: "Field") -> "Field":
        return Field(self.name, self.origins | other.origins)


# How likely a table has a column that is not in the list of its columns.
LISTED = 1  # the catalogue has the position of each of its columns
HINTED = 2  # some of its columns are known
UNKNOWN = 3  # none is
EXACT = 9  # it has the column


@dataclass(frozen=True, slots=True)
class Rest:
    """The columns beyond those that are known, that `*` passes on. Several tables are those of a union: a column comes
    from each of them."""

    tables: frozenset[str]
    openness: int
    without: frozenset[str] = frozenset()

    @classmethod
    def of(cls, table: str, openness: int) -> "Rest":
        return cls(frozenset({table}), openness)

    def field(self, name: str) -> Field:
        origins = frozenset(Column(table, name) for table in self.tables)
        return Field(name, origins, copied=len(origins) == 1)


class Match(NamedTuple):
    openness: int
    field: Field
