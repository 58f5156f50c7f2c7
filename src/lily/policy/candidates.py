"""Decisions about a name: several assets may have it, in another case or by several mappings, or none."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from lily.model import ids
from lily.policy.decisions import DISABLED, Decision
from lily.policy.names_above import names_above
from lily.policy.requests import Ancestor, Facts

UnknownObjects = Literal["open", "closed"]
UNKNOWN = "the asset is not in the catalogue, and the tenant's setting unknown_objects is"
_ORDER = ("deny", "mask", "row-filter", "allow")


def unknown_facts(tenant: str, asset: str) -> Facts:
    """All that is known of an asset that is not in the catalogue: its id, and its name if it was given."""
    if ids.looks_like_uuid(asset):
        return Facts(asset.lower())
    return Facts(ids.asset_id(tenant, asset), asset, names_above=names_above(tenant, asset, ()))


def decided_unknown(decision: Decision, unknown_objects: UnknownObjects) -> Decision:
    """Closed: denied. Open: allowed unless the user is disabled, or a policy that names the object, or every object,
    decides otherwise."""
    if decision.reason == DISABLED or (decision.policy_id is not None and not decision.allowed):
        return decision
    if unknown_objects == "closed":
        return Decision("deny", None, f"{UNKNOWN} closed")
    return decision if decision.allowed else Decision("allow", None, f"{UNKNOWN} open")


def strictness(decision: Decision) -> tuple[int, int, int]:
    """The smaller, the stricter."""
    order = _ORDER.index(decision.effect)
    return (order, decision.mask.strictness if decision.mask else 0, -len(decision.row_filters))


def combined(decisions: Sequence[Decision]) -> Decision:
    """The strictest of the decisions about one name, with the row filters of all of them."""
    first = decisions[0]
    if len(decisions) == 1:
        return first
    strictest = min(decisions, key=strictness)
    filters = tuple(dict.fromkeys(one for decision in decisions for one in decision.row_filters))
    if not strictest.allowed or filters == strictest.row_filters:
        return strictest
    return Decision(strictest.effect, strictest.policy_id, strictest.reason, strictest.mask, filters)


def stated(candidates: Iterable[Facts]) -> list[Facts]:
    """Those that can grant something. Without any, the name is not in the catalogue."""
    return [facts for facts in candidates if not facts.restricts_only]


def restricting(candidates: Iterable[Facts]) -> list[Facts]:
    """Those of which nothing counts but what policies restrict of them."""
    return [facts for facts in candidates if facts.restricts_only]


def column_of(tenant: str, table: Facts, name: str) -> Facts:
    """A plain column of the table. Its attributes are unknown."""
    ancestors = (Ancestor(table.id, table.qualified_name), *table.ancestors)
    return Facts(
        ids.asset_id(tenant, name),
        name,
        "column",
        table.data_source,
        ancestors,
        table.tags,
        names_above=table.names_above,
    )


def restricting_by(asset: Facts, above: Facts) -> Facts:
    """What counts of another asset because the name of this one is below it: that it restricts."""
    return replace(
        asset,
        data_source=above.data_source or asset.data_source,
        ancestors=tuple(dict.fromkeys((*asset.ancestors, Ancestor(above.id, above.qualified_name), *above.ancestors))),
        tags={*asset.tags, *above.tags},
        names_above=tuple(dict.fromkeys((*asset.names_above, *above.names_above))),
        restricts_only=True,
    )


def of_types(candidates: Collection[Facts], without: Collection[str]) -> list[Facts]:
    return [facts for facts in candidates if facts.entity_type not in without]
