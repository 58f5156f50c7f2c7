"""Whether a statement about an asset removes protective tags. The API and the pipeline use the same functions."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lily.lineage.tag_rules import TagRules
from lily.model import ids
from lily.model.assets import NO_DERIVED_TAGS, DerivedTags, LayerName, is_deleted, parent_id, stated_tags, suppressions
from lily.model.events import AssetEvent
from lily.model.lanes import BULK_TYPES
from lily.model.layers import TAGS, Layer, merge
from lily.model.statements import Statement

Layers = Mapping[LayerName, Layer]


class TagRemoval(NamedTuple):
    """Protective tags that an event takes from an asset, or from others that have them through it."""

    action: str  # of the audit: tag.removed or tag.suppressed
    tags: list[str]
    layer: str  # the layer that loses them, or `inherited` or `propagated`


@dataclass(frozen=True, slots=True)
class DerivedContext:
    """Derived tags around an asset, as far as an event may change them."""

    derived: DerivedTags = NO_DERIVED_TAGS  # of the asset
    from_parent: Mapping[str, DerivedTags] = field(default_factory=dict)  # what the children of a parent inherit
    passed_on: Collection[str] = ()  # the tags that others have through the asset
    parent_by_name: str | None = None  # of a column that may be in the lake alone


def may_remove_protection(statement: Statement) -> bool:
    """Whether a statement of this kind can remove a protective tag at all; most cannot."""
    return (
        TAGS in statement.attributes
        or "parent" in statement.attributes
        or statement.operation in {"untag", "suppress", "delete"}
    )


def parent_by_name(event: AssetEvent) -> str | None:
    """The parent of a plain column before an event that states its parent, if only the lake has the column: the lake
    keeps columns with the table whose name theirs begins with. None for an event that cannot be about one."""
    statement = event.statement
    above = ids.name_prefix(statement.qualified_name)
    is_column = statement.entity_type in BULK_TYPES or not statement.entity_type
    if not is_column or "parent" not in statement.attributes or above == statement.qualified_name:
        return None
    return ids.asset_id(event.tenant, above)


def merge_event(layers: Layers, event: AssetEvent) -> dict[LayerName, Layer]:
    """The layers after the event is merged."""
    name, stated = event.statement.layer, event.layer()
    known = layers.get(name)
    return {**layers, name: stated if known is None else merge(known, stated)}


def tag_removals(
    layer: LayerName, before: Layers, after: Layers, rules: TagRules, context: DerivedContext
) -> list[TagRemoval]:
    """Every way in which an event that changes a layer removes protective tags."""
    protective = rules.protective
    removals = [TagRemoval("tag.removed", removed_tags(before, after, layer, protective), layer)]
    old, new = parent_id(before) or context.parent_by_name, parent_id(after)
    if old is not None and old != new:
        inherited = context.from_parent.get(old, NO_DERIVED_TAGS)
        inherits = context.from_parent.get(new, NO_DERIVED_TAGS) if new else NO_DERIVED_TAGS
        moved = DerivedTags(context.derived.propagated, inherits.inherited)
        lost = no_longer_inherited(after, inherited, moved, protective)
        removals.append(TagRemoval("tag.removed", lost, "inherited"))
    suppressed = sorted((suppressions(after).keys() - suppressions(before).keys()) & protective)
    removals.append(TagRemoval("tag.suppressed", suppressed, layer))
    if rules.cut_deleted and is_deleted(after) and not is_deleted(before):
        removals.append(TagRemoval("tag.removed", sorted(context.passed_on), "propagated"))
    return [removal for removal in removals if removal.tags]


def removed_tags(before: Layers, after: Layers, layer: LayerName, protective: Collection[str]) -> list[str]:
    """The protective tags that the layer loses."""
    old, new = (layers[layer].fields.get(TAGS, {}) if layer in layers else {} for layers in (before, after))
    return sorted(tag for tag in old.keys() - new.keys() if tag in protective)


def no_longer_inherited(
    layers: Layers, before: DerivedTags, after: DerivedTags, protective: Collection[str]
) -> list[str]:
    """The protective tags that the asset inherited before and that are not in effect after its parent changes."""
    kept = stated_tags(layers).keys() | suppressions(layers).keys() | after.propagated.keys() | after.inherited.keys()
    return sorted(tag for tag in before.inherited if tag in protective and tag not in kept)


def removal_forbidden(rules: TagRules, tags: Iterable[str]) -> str:
    """The message for callers without `policy:write`."""
    names = ", ".join(rules.named(tags).values())
    return f"removing the protective tag {names} requires the scope policy:write"
