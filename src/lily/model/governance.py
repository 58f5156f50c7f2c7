"""Records of `governance-events`: changes that can travel along lineage, or that access decisions depend on.

A record names what changed and not how: its reader looks at committed state. Plain changes (a description, a new table
without tags and without lineage) have no record here.
"""

from collections.abc import Collection, Mapping
from typing import Any

from lily.model.assets import DELETED, PARENT_ID, SUPPRESSED
from lily.model.layers import TAGS

ASSET, EDGE, TAG, RULE, SETTING = "asset", "edge", "tag", "rule", "setting"

_DECISIVE = frozenset({TAGS, PARENT_ID, DELETED})
NOTHING: frozenset[str] = frozenset()

Record = dict[str, Any]


def concerns_tags(changed: Collection[str]) -> bool:
    """Whether one of these fields of a layer decides which tags an asset has or passes on."""
    return not _DECISIVE.isdisjoint(changed) or any(field.startswith(SUPPRESSED) for field in changed)


def rule_attributes_changed(changed: frozenset[str], layer: str, named: frozenset[str]) -> frozenset[str]:
    """Of the attributes that rules name, those of an asset that may have changed.

    What rules state themselves (the enriched layer) concerns no rule. `$deleted` is part of every statement of a
    source, so an asset that has just come counts as changed in all of them.
    """
    if DELETED in changed:
        return named
    return named & changed if layer != "enriched" else NOTHING


def needs_graph(after: Mapping[str, Any]) -> bool:
    """Whether a layer that is new matters only if the asset is part of the lineage graph: it states no tag, deletes
    nothing and suppresses nothing, but the asset may be the end of an edge, or above one, that came before it."""
    return not (after.get(TAGS) or after.get(DELETED) or any(field.startswith(SUPPRESSED) for field in after))


def asset_record(asset_id: str, layer: str, changed: Collection[str], position: int, correlation: str) -> Record:
    record: Record = {"kind": ASSET, "id": asset_id, "layer": layer, "changed": list(changed), "position": position}
    return record | {"correlation": correlation} if correlation else record


def edge_record(from_id: str, to_id: str, position: int, correlation: str) -> Record:
    record: Record = {"kind": EDGE, "from": from_id, "to": to_id, "position": position}
    return record | {"correlation": correlation} if correlation else record


def decision_record(kind: str, name: str, position: int) -> Record:
    """`kind` is TAG, RULE or SETTING."""
    return {"kind": kind, "name": name, "position": position}
