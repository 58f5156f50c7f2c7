"""Converts a row of `asset_columns.sql`, followed by its derived tags and incidents, to an asset."""

from typing import Any

from lily.lineage.tag_rules import TagRules
from lily.model.assets import LAYERS, NO_DERIVED_TAGS, DerivedTags
from lily.model.layers import Layer
from lily.store.assets import StoredAsset
from lily.store.postgres.sessions import Row

COLUMNS = 17  # of `asset_columns.sql`


def asset_of(tenant: str, row: Row, rules: TagRules) -> StoredAsset:
    layers = {
        name: Layer(*row[start : start + 3])
        for name, start in zip(LAYERS, (5, 8, 11), strict=True)
        if row[start] is not None
    }
    derived = derived_tags_of(rules, row[-3], row[-2])
    at_risk = row[-1] or ()
    return StoredAsset(tenant, row[0], row[1], layers, row[2], row[3], row[4], row[14], None, rules, derived, at_risk)


def derived_tags_of(rules: TagRules, propagated: list[str] | None, inherited: dict[str, Any] | None) -> DerivedTags:
    """The name of each tag is the defined one, else the one that the ancestor states. What an ancestor only holds is a
    list, and counts where it is protective."""
    if propagated is None and inherited is None:
        return NO_DERIVED_TAGS
    names = {
        tag: rules.name(tag, stated if isinstance(stated, str) else stated[0])
        for tag, stated in (inherited or {}).items()
        if isinstance(stated, str) or tag in rules.protective
    }
    return DerivedTags(rules.named(propagated or ()), names)
