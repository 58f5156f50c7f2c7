"""The rows that a query or a table yields."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

from lily.intake.sql.relations.columns import EXACT, HINTED, Column, Field, Match, Origins, Rest


@dataclass(slots=True)
class Relation:
    """The columns in their order, the tables that are read, and the columns that select the rows.

    A `Rest` among the columns stands for an unknown number of them, so positions behind it are not known.
    """

    items: list[Field | Rest] = field(default_factory=list)
    tables: dict[str, None] = field(default_factory=dict)
    influences: set[Column] = field(default_factory=set)
    hidden: Rest | None = None  # of a table whose columns are listed: one that is used although it is not in the list
    every: Origins | None = None  # of a function: the origins of whatever column is named
    parts: Mapping[str, Field] | None = None  # of the elements of an array: the fields of the struct that each is
    _index: dict[str, Field] | None = None

    @property
    def fields(self) -> list[Field]:
        return [item for item in self.items if isinstance(item, Field)]

    @property
    def rests(self) -> list[Rest]:
        return [item for item in self.items if isinstance(item, Rest)]

    @property
    def is_open(self) -> bool:
        return any(isinstance(item, Rest) for item in self.items)

    def positions(self) -> list[Field]:
        """The columns whose position is known."""
        found: list[Field] = []
        for item in self.items:
            if isinstance(item, Rest):
                break
            found.append(item)
        return found

    def find(self, name: str) -> Match | None:
        """None if there is no such column, or if several tables could have it."""
        exact = self._by_name().get(name)
        if exact is not None:
            return Match(EXACT, exact)
        if self.parts is not None and name in self.parts:
            return Match(EXACT, self.parts[name])
        if self.every is not None:
            return Match(HINTED, Field(name, self.every))
        return best(Match(rest.openness, rest.field(name)) for rest in self._candidates(name))

    def reads(self, other: "Relation") -> None:
        """Adds what another relation, which this one is made from, reads."""
        self.tables |= other.tables
        self.influences |= other.influences

    def _by_name(self) -> dict[str, Field]:
        if self._index is None:
            self._index = {}
            for entry in self.fields:
                known = self._index.get(entry.name)
                self._index[entry.name] = entry if known is None else known.merged(entry)
        return self._index

    def _candidates(self, name: str) -> Iterator[Rest]:
        yield from (rest for rest in self.rests if name not in rest.without)
        if self.hidden is not None:
            yield self.hidden


def best(matches: Iterable[Match]) -> Match | None:
    """The match in the table that most likely has the column; None if two are as likely."""
    ordered = sorted(matches, key=lambda match: -match.openness)
    if not ordered:
        return None
    first = [match for match in ordered if match.openness == ordered[0].openness]
    if first[0].openness == EXACT:
        return Match(EXACT, reduce(Field.merged, (match.field for match in first[1:]), first[0].field))
    return first[0] if len({match.field.origins for match in first}) == 1 else None
