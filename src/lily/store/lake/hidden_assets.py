"""What policies hide from a caller, for searches of the lake."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lily.model.assets import entity_type, parent_id
from lily.model.states import AssetState
from lily.policy import Ancestor, AssetSet, Facts
from lily.policy.names_above import names_above
from lily.store.lake.asset_filter import Hidden


@dataclass(frozen=True, slots=True)
class HiddenAssets:
    """Hides as far as a state shows it: not by tags, and not by ancestors beyond the parent."""

    assets: AssetSet

    def hides_types(self, types: frozenset[str]) -> bool:
        return types <= self.assets.entity_types

    def hides(self, state: AssetState, shown: Mapping[str, Any]) -> bool:
        parent = parent_id(state.layers)
        above = () if parent is None else (Ancestor(parent, str(shown.get("parent") or "")),)
        source = str(shown.get("data_source") or "")
        by_name = names_above(state.tenant, state.qualified_name, above)
        kind = entity_type(state.layers)
        return self.assets.holds(Facts(state.id, state.qualified_name, kind, source, above, names_above=by_name))


def hidden_assets(assets: AssetSet) -> Hidden | None:
    """None if nothing is hidden, which costs a search nothing."""
    return HiddenAssets(assets) if assets.keys else None
