"""What a search of the lake looks for.

Rows are pieces of states, so a row can only say that its asset may be meant; whether it is, the joined state says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from lily.model.assets import entity_type, shown_fields
from lily.model.lanes import BULK_TYPES
from lily.model.search_terms import matches_terms
from lily.model.states import AssetState
from lily.store.lake.rows import parent_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """Every part that is given must hold. No words at all (`()`, not None) match nothing, as in PostgreSQL."""

    words: tuple[str, ...] | None = None
    entity_type: str | None = None
    owner: str | None = None
    data_source: str | None = None
    parent: str | None = None  # an id

    def is_hopeless(self) -> bool:
        """Whether no asset that only the lake has can be meant."""
        return self.words == () or (self.entity_type is not None and self.entity_type not in BULK_TYPES)

    def columns(self) -> Sequence[str]:
        """What `may_be_meant` has to see of a row."""
        stated = ("source",) if self.owner is not None or self.data_source is not None else ()
        named = ("name", "qualified_name") if self.words else ()
        return ("tenant", "id", "entity_type", *named, *stated)

    def may_be_meant(self, rows: pa.Table) -> pa.Table:
        """The rows whose asset may be meant. What is only in the lake was stated by a source, as one of the types."""
        types = pa.array(sorted(BULK_TYPES) if self.entity_type is None else [self.entity_type])
        rows = rows.filter(pc.is_in(rows.column("entity_type"), types))
        for word in self.words or ():
            # What the two sides call lower case may differ beyond ASCII: then only the joined state is asked.
            if word.isascii():
                rows = rows.filter(pc.or_kleene(_contains(rows, "qualified_name", word), _contains(rows, "name", word)))
        for name, value in (("owner", self.owner), ("data_source", self.data_source)):
            if value is not None:
                written = orjson.dumps({name: value})[1:-1].decode()
                rows = rows.filter(pc.match_substring(rows.column("source"), written))
        return rows

    def means(self, state: AssetState) -> bool:
        shown = shown_fields(state.layers)
        told: list[tuple[Any, Any]] = [
            (self.entity_type, entity_type(state.layers)),
            (self.owner, shown.get("owner")),
            (self.data_source, shown.get("data_source")),
            (self.parent, parent_of(state)),
        ]
        if any(asked is not None and asked != is_so for asked, is_so in told):
            return False
        named = f"{shown.get('name') or ''} {state.qualified_name}"
        return self.words is None or (bool(self.words) and matches_terms(self.words, named))


def _contains(rows: pa.Table, column: str, word: str) -> Any:
    return pc.fill_null(pc.match_substring(rows.column(column), word, ignore_case=True), fill_value=False)
