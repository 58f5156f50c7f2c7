"""The filter of a search in the lake.

A row may hold only a part of an asset's state. So rows are filtered by what a single row can rule out, and the merged
state decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from lily.model.assets import entity_type, parent_id, shown_fields
from lily.model.lanes import BULK_TYPES
from lily.model.search_terms import searched
from lily.model.states import AssetState


class Hidden(Protocol):
    """The assets that a search leaves out. A port, because the pipeline uses the same scans and must not import the
    policies. Both methods are pure and raise nothing."""

    def hides_types(self, types: frozenset[str]) -> bool:
        """Whether every asset of each of these types is hidden."""

    def hides(self, state: AssetState, shown: Mapping[str, Any]) -> bool:
        """Whether the asset with this state and these shown fields is hidden."""


@dataclass(frozen=True, slots=True)
class AssetFilter:
    """All given conditions must hold. An empty tuple of terms (not None) matches nothing, as in PostgreSQL."""

    terms: tuple[str, ...] | None = None
    entity_type: str | None = None
    owner: str | None = None
    data_source: str | None = None
    parent: str | None = None  # an id
    hidden: Hidden | None = None

    def matches_nothing(self) -> bool:
        """Whether no asset that only the lake has can match."""
        types = BULK_TYPES if self.entity_type is None else BULK_TYPES & {self.entity_type}
        return self.terms == () or not types or (self.hidden is not None and self.hidden.hides_types(types))

    def columns(self) -> Sequence[str]:
        """The columns that `prefilter` reads."""
        stated = ("source",) if self.owner is not None or self.data_source is not None else ()
        named = ("name", "qualified_name") if self.terms else ()
        return ("tenant", "id", "entity_type", *named, *stated)

    def prefilter(self, rows: pa.Table) -> pa.Table:
        """The rows whose asset may match. An asset that only the lake has was stated by a source, so its rows have one
        of the bulk types."""
        types = pa.array(sorted(BULK_TYPES) if self.entity_type is None else [self.entity_type])
        rows = rows.filter(pc.is_in(rows.column("entity_type"), types))
        for term in self.terms or ():
            if term.isascii():
                rows = rows.filter(pc.or_kleene(_contains(rows, "qualified_name", term), _contains(rows, "name", term)))
        for name, value in (("owner", self.owner), ("data_source", self.data_source)):
            if value is not None:
                written = orjson.dumps({name: value})[1:-1].decode()
                rows = rows.filter(pc.match_substring(rows.column("source"), written))
        return rows

    def matches(self, state: AssetState) -> bool:
        shown = shown_fields(state.layers)
        conditions: list[tuple[Any, Any]] = [
            (self.entity_type, entity_type(state.layers)),
            (self.owner, shown.get("owner")),
            (self.data_source, shown.get("data_source")),
            (self.parent, parent_id(state.layers)),
        ]
        if any(expected is not None and expected != actual for expected, actual in conditions):
            return False
        if self.hidden is not None and self.hidden.hides(state, shown):
            return False
        return self.terms is None or (bool(self.terms) and searched(state.qualified_name, shown).match(self.terms))


def _contains(rows: pa.Table, column: str, term: str) -> Any:
    """Whether a value may have the term; beyond ASCII, Arrow and Python may fold differently."""
    values = rows.column(column)
    found = pc.or_(pc.match_substring(values, term, ignore_case=True), pc.invert(pc.string_is_ascii(values)))
    return pc.fill_null(found, fill_value=False)
