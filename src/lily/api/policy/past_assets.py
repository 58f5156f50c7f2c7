"""Assets as they were at a time: what they stated, what had reached them along edges, and what they inherited.

A parent that had ended without authority, and was held then, passed protective tags down as well (decision 48).
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lily.api.calls import Call
from lily.api.http.errors import Declined
from lily.api.reads.as_of import rebuild_past
from lily.lineage.inheritance import Ancestor as TaggedAncestor
from lily.lineage.inheritance import inherited_by_any_way, inherited_tags
from lily.lineage.tag_rules import TagRules
from lily.model import ids
from lily.model.assets import (
    DerivedTags,
    conducting_tags,
    effective_tag_keys,
    entity_type,
    held_parents,
    is_cut,
    shown_fields,
    stated_by_layer,
    suppressions,
)
from lily.model.errors import Problem
from lily.model.lanes import BULK_TYPES
from lily.policy import Ancestor, Facts
from lily.policy.candidates import unknown_facts
from lily.policy.names_above import names_above
from lily.store.assets import StoredAsset
from lily.store.postgres.propagation.history import NOTHING_PROPAGATED, Propagated, propagated_at
from lily.store.postgres.propagation.tag_paths import DerivedTagsOf

MAX_DEPTH = 64
MAX_HELD = 64  # ancestors of one asset that are rebuilt because a parent is held; with more it is not decided


class Above(NamedTuple):
    """An ancestor; `asset` is None if it was known by its child or its edges alone."""

    id: str
    asset: StoredAsset | None


@dataclass(frozen=True, slots=True)
class PastAsset:
    """An asset and what was above it, the parent first. `asset` is None if it was known by its edges alone. `held` has,
    by id, the ancestors that were above it only because a parent was held."""

    tenant: str
    id: str
    reference: str
    asset: StoredAsset | None
    above: Sequence[Above]
    propagated: Mapping[str, Propagated]  # by asset: what had reached it
    rules: TagRules
    held: Mapping[str, Above]

    @property
    def stated(self) -> dict[str, str]:
        return {} if self.asset is None else conducting_tags(self.asset.layers)

    @property
    def derived(self) -> DerivedTagsOf:
        ancestors = [self._tagged(one) for one in self.above]
        inherited = inherited_tags(ancestors, cut=self.rules.cut_deleted)
        return DerivedTagsOf(self.id, self.propagated.get(self.id, NOTHING_PROPAGATED).tags, inherited, ancestors)

    @property
    def inherited_through_held(self) -> list[DerivedTagsOf]:
        """The protective tags that it inherited only because a parent, its own or one above, was held: a way up for
        each. Whether a tag counts is for `protective` to decide, as for any that is not shown."""
        if not self.held or self.asset is None:
            return []
        known = {one.id: one for one in (*self.above, *self.held.values())}
        found = inherited_by_any_way(
            parents_of(self.asset),
            lambda asset_id: self._tagged(known[asset_id]),
            lambda asset_id: [one for one in parents_of(known[asset_id].asset) if one != self.id],
            cut=self.rules.cut_deleted,
        )
        shown = self.derived.inherited
        return [
            DerivedTagsOf(self.id, (), {tag: len(way) - 1}, [self._tagged(known[one]) for one in way])
            for tag, way in sorted(found.items())
            if tag not in shown
        ]

    @property
    def derived_names(self) -> DerivedTags:
        """The tags that it derived, held parents included: name by key."""
        of = self.derived
        inherited = {*of.inherited, *(tag for one in self.inherited_through_held for tag in one.inherited)}
        return DerivedTags({tag: self.name(tag) for tag in of.propagated}, {tag: self.name(tag) for tag in inherited})

    def without_propagated(self) -> "PastAsset | None":
        """As far as its own history goes. None if it was known by its edges alone."""
        return None if self.asset is None else replace(self, propagated={})

    def name(self, tag: str) -> str:
        """The tag's name as it was defined, else as the asset or an ancestor stated it."""
        ancestors = (above.asset for above in (*self.above, *self.held.values()))
        layers = [one.layers for one in (self.asset, *ancestors) if one]
        stated = next((names[tag] for names in map(conducting_tags, layers) if tag in names), tag)
        return self.rules.name(tag, stated)

    def facts(self, named_tags: frozenset[str]) -> Facts:
        """`named_tags` are those that policies name: they count in every layer."""
        if self.asset is None:
            return replace(unknown_facts(self.tenant, self.reference), id=self.id, tags=self._tags())
        layers = self.asset.layers
        attributes: dict[str, Any] = shown_fields(layers)
        ancestors = tuple(Ancestor(one.id, one.asset.qualified_name if one.asset else "") for one in self.above)
        return Facts(
            self.id,
            self.asset.qualified_name,
            entity_type(layers),
            str(attributes.get("data_source") or "") or self._source_of_table(),
            ancestors,
            self._tags(named_tags),
            attributes,
            names_above(self.tenant, self.asset.qualified_name, ancestors),
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
        through_held = [tag for one in self.inherited_through_held for tag in one.inherited]
        derived = [*of.propagated, *of.inherited, *through_held]
        return effective_tag_keys(stated_by_layer(layers), derived, suppressions(layers), protective)

    def _tagged(self, one: Above) -> TaggedAncestor:
        layers = {} if one.asset is None else one.asset.layers
        return TaggedAncestor(
            one.id,
            frozenset(conducting_tags(layers)),
            self.propagated.get(one.id, NOTHING_PROPAGATED).content,
            frozenset(suppressions(layers)),
            is_cut(layers),
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
        held = {} if asset is None else await self._held(asset, above)
        family = [asset_id, *(one.id for one in above), *held]
        propagated = await propagated_at(self._call.services.database, self._call.tenant, family, self._as_of)
        if asset is None and not propagated:
            return None
        return PastAsset(self._call.tenant, asset_id, reference, asset, above, propagated, self._rules, held)

    async def named_above(self, reference: str, found: PastAsset | None) -> PastAsset | None:
        """What the name is directly below, if that was an asset and `found`, what had the name, did not state it."""
        own = None if found is None else found.asset
        name = own.qualified_name if own else "" if ids.looks_like_uuid(reference) else reference
        above = ids.name_prefix(name)
        stated = () if found is None else (*(one.id for one in found.above), *found.held)
        if above == name or ids.asset_id(self._call.tenant, above) in stated:
            return None
        past = await self.find(above)
        return past if past is not None and past.asset is not None else None

    async def _above(self, asset: StoredAsset) -> AsyncIterator[Above]:
        seen = {asset.id}
        parent = asset.parent
        while parent is not None and parent not in seen and len(seen) < MAX_DEPTH:
            seen.add(parent)
            found = await self._asset(parent)
            yield Above(parent, found)
            parent = found.parent if found else None

    async def _held(self, asset: StoredAsset, above: Sequence[Above]) -> dict[str, Above]:
        """What else was above it. Raises Undecidable if that is too much to rebuild: a tag could be missed."""
        shown = {one.id for one in above}
        waiting = [parent for one in (asset, *(one.asset for one in above)) for parent in parents_of(one)]
        found: dict[str, Above] = {}
        while waiting:
            parent = waiting.pop()
            if parent in shown or parent in found or parent == asset.id:
                continue
            if len(found) == MAX_HELD:
                described = f"{asset.qualified_name} is below more than {MAX_HELD} assets by parents that are held"
                raise Undecidable(Problem("TOO_MANY_HELD_PARENTS", described, "as_of"))
            found[parent] = Above(parent, await self._asset(parent))
            waiting += parents_of(found[parent].asset)
        return found

    async def _asset(self, asset_id: str) -> StoredAsset | None:
        if asset_id not in self._read:
            try:
                self._read[asset_id] = await rebuild_past(self._call, asset_id, asset_id, self._as_of)
            except Declined as error:
                if error.status != 404:
                    raise
                self._read[asset_id] = None
        return self._read[asset_id]


def parents_of(asset: StoredAsset | None) -> list[str]:
    """The shown parent first, then those that are held."""
    if asset is None:
        return []
    return [*([] if asset.parent is None else [asset.parent]), *sorted(held_parents(asset.layers))]


class Undecidable(Declined):
    """The question about the past depends on something that was not recorded, or that is too much to rebuild."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(422, problems[0])
        self.problems = problems
