"""A row of `asset_columns.sql`, followed by what reached the asset, as an asset."""

from typing import Any

from lily.lineage.rules import Rules
from lily.model.assets import LAYERS, NOTHING, Reached
from lily.model.layers import Layer
from lily.store.assets import StoredAsset
from lily.store.postgres.sessions import Row

COLUMNS = 17  # of `asset_columns.sql`


def asset_of(tenant: str, row: Row, rules: Rules) -> StoredAsset:
    layers = {
        name: Layer(*row[start : start + 3])
        for name, start in zip(LAYERS, (5, 8, 11), strict=True)
        if row[start] is not None
    }
    reached = reached_of(rules, row[-2], row[-1])
    return StoredAsset(tenant, row[0], row[1], layers, row[2], row[3], row[4], row[14], None, rules, reached)


def reached_of(rules: Rules, propagated: list[str] | None, inherited: dict[str, Any] | None) -> Reached:
    """Folded tags with their names: as defined, else as the ancestor states them."""
    if propagated is None and inherited is None:
        return NOTHING
    names = {tag: rules.name(tag, stated) for tag, stated in (inherited or {}).items()}
    return Reached(rules.named(propagated or ()), names)
