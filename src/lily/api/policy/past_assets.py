"""Assets as they were at a time: what they stated, what had reached them along edges, and what they inherited."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lily.api.calls import Call
from lily.api.http.errors import Declined
from lily.api.reads.as_of import rebuild_past
from lily.lineage.inheritance import Ancestor as TaggedAncestor
from lily.lineage.inheritance import inherited_tags
from lily.lineage.tag_rules import TagRules
from lily.model import ids
from lily.model.assets import (
    effective_tag_keys,
    entity_type,
    is_deleted,
    shown_fields,
    stated_by_layer,
    stated_tags,
    suppressions,
)
from lily.model.lanes import BULK_TYPES
from lily.policy import Ancestor, Facts
from lily.store.assets import StoredAsset
from lily.store.postgres.propagation.history import NOTHING_PROPAGATED, Propagated, propagated_at
from lily.store.postgres.propagation.tag_paths import DerivedTagsOf

MAX_DEPTH = 64


class Above(NamedTuple):
    """An ancestor; `asset` is None if it was known by its child or its edges alone."""

    id: str
    asset: StoredAsset | None


@dataclass(frozen=True, slots=True)
class PastAsset:
    """An asset and what was above it, the parent first. `asset` is None if it was known by its edges alone."""

    id: str
    reference: str
    asset: StoredAsset | None
    above: Sequence[Above]
    propagated: Mapping[str, Propagated]  # by asset: what had reached it
    rules: TagRules

    @property
    def stated(self) -> dict[str, str]:
        return {} if self.asset is None else stated_tags(self.asset.layers)

    @property
    def derived(self) -> DerivedTagsOf:
        ancestors = [self._tagged(one) for one in self.above]
        inherited = inherited_tags(ancestors, cut=self.rules.cut_deleted)
        return DerivedTagsOf(self.id, self.propagated.get(self.id, NOTHING_PROPAGATED).tags, inherited, ancestors)

    def without_propagated(self) -> "PastAsset | None":
        """As far as its own history goes. None if it was known by its edges alone."""
        return None if self.asset is None else replace(self, propagated={})

    def name(self, tag: str) -> str:
        """The tag's name as it was defined, else as the asset or an ancestor stated it."""
        layers = [one.layers for one in (self.asset, *(above.asset for above in self.above)) if one]
        stated = next((names[tag] for names in map(stated_tags, layers) if tag in names), tag)
        return self.rules.name(tag, stated)

    def facts(self, named_tags: frozenset[str]) -> Facts:
        """`named_tags` are those that policies name: they count in every layer."""
        if self.asset is None:
            return Facts(self.id, "" if ids.looks_like_uuid(self.reference) else self.reference, tags=self._tags())
        layers = self.asset.layers
        attributes: dict[str, Any] = shown_fields(layers)
        return Facts(
            self.id,
            self.asset.qualified_name,
            entity_type(layers),
            str(attributes.get("data_source") or "") or self._source_of_table(),
            tuple(Ancestor(one.id, one.asset.qualified_name if one.asset else "") for one in self.above),
            self._tags(named_tags),
            attributes,
        )

    def _source_of_table(self) -> str:
        """A column without a data source counts as of its table's."""
        if self.asset is None or entity_type(self.asset.layers) not in BULK_TYPES:
            return ""
        table = self.above[0].asset if self.above else None
        return "" if table is None else str(shown_fields(table.layers).get("data_source") or "")

    def _tags(self, named_tags: frozenset[str] = frozenset()) -> set[str]:
        layers = {} if self.asset is None else self.asset.layers
        of = self.derived
        protective = self.rules.protective | named_tags
        return effective_tag_keys(
            stated_by_layer(layers), [*of.propagated, *of.inherited], suppressions(layers), protective
        )

    def _tagged(self, one: Above) -> TaggedAncestor:
        layers = {} if one.asset is None else one.asset.layers
        return TaggedAncestor(
            one.id,
            frozenset(stated_tags(layers)),
            self.propagated.get(one.id, NOTHING_PROPAGATED).content,
            frozenset(suppressions(layers)),
            is_deleted(layers),
        )


class PastAssets:
    """Reads assets as they were. Each is rebuilt from its events, once. Raises NotRecordedYet if the lake has not
    reached the time."""

    def __init__(self, call: Call, as_of: str, rules: TagRules) -> None:
        self._call, self._as_of, self._rules = call, as_of, rules
        self._read: dict[str, StoredAsset | None] = {}

    async def find(self, reference: str) -> PastAsset | None:
        """None if there was no such asset, nor an edge by which a tag had reached it."""
        asset_id = ids.resolve(self._call.tenant, reference)
        asset = await self._asset(asset_id)
        above = [] if asset is None else [one async for one in self._above(asset)]
        family = [asset_id, *(one.id for one in above)]
        propagated = await propagated_at(self._call.services.database, self._call.tenant, family, self._as_of)
        if asset is None and not propagated:
            return None
        return PastAsset(asset_id, reference, asset, above, propagated, self._rules)

    async def _above(self, asset: StoredAsset) -> AsyncIterator[Above]:
        seen = {asset.id}
        parent = asset.parent
        while parent is not None and parent not in seen and len(seen) < MAX_DEPTH:
            seen.add(parent)
            found = await self._asset(parent)
            yield Above(parent, found)
            parent = found.parent if found else None

    async def _asset(self, asset_id: str) -> StoredAsset | None:
        if asset_id not in self._read:
            try:
                self._read[asset_id] = await rebuild_past(self._call, asset_id, asset_id, self._as_of)
            except Declined as error:
                if error.status != 404:
                    raise
                self._read[asset_id] = None
        return self._read[asset_id]
