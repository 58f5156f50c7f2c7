"""The pure part of deciding checks: unknown objects, and the shape of decisions in responses."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from lily.api.policy.checks import Batch
from lily.api.policy.settings import AccessSettings
from lily.model import ids
from lily.policy import Check, Decision, Facts, PolicyIndex, Principal, conjunction
from lily.policy.decisions import DISABLED

CANONICAL = "postgres"
UNKNOWN = "the asset is not in the catalogue, and the tenant's setting unknown_objects is"


def strictest(
    index: PolicyIndex,
    settings: AccessSettings,
    batch: Batch,
    principals: Sequence[Principal],
    candidates: Mapping[str, Sequence[Facts]],
) -> list[Decision]:
    """As `decided`; where several assets match a name, the stricter decision holds."""
    decisions = decided(
        index, settings, batch, principals, {name: next(iter(c), None) for name, c in candidates.items()}
    )
    several = {name: found[1:] for name, found in candidates.items() if len(found) > 1}
    for place, check in enumerate(batch.checks) if several else ():
        for facts in several.get(check.asset, ()):
            context = batch.contexts[check.context]
            other = index.decide(principals[check.principal], check.action, facts, context, check.plane)
            decisions[place] = combined(decisions[place], other)
    return decisions


def combined(first: Decision, second: Decision) -> Decision:
    """The stricter of two decisions, with the row filters of both: a mask does not make up for a row filter."""
    stricter, other = sorted((first, second), key=strictness)
    if not stricter.allowed or set(other.row_filters) <= set(stricter.row_filters):
        return stricter
    return replace(stricter, row_filters=tuple(dict.fromkeys((*stricter.row_filters, *other.row_filters))))


def strictness(decision: Decision) -> tuple[int, int, int]:
    """The smaller, the stricter."""
    order = ("deny", "mask", "row-filter", "allow").index(decision.effect)
    return (order, decision.mask.strictness if decision.mask else 0, -len(decision.row_filters))


def decided(
    index: PolicyIndex,
    settings: AccessSettings,
    batch: Batch,
    principals: Sequence[Principal],
    facts: Mapping[str, Facts | None],
) -> list[Decision]:
    """One decision per check, in order. `facts` are None for assets that are not in the catalogue."""
    unknown = {asset: unknown_facts(index.tenant, asset) for asset, found in facts.items() if found is None}
    known: dict[str, Facts] = {asset: found for asset, found in facts.items() if found is not None} | unknown
    contexts = batch.contexts
    decisions: list[Decision | None] = [None] * len(batch.checks)
    for plane in {check.plane for check in batch.checks}:
        places = [place for place, check in enumerate(batch.checks) if check.plane == plane]
        chosen = (batch.checks[place] for place in places)
        questions = (
            Check(principals[who], action, known[asset], contexts[context]) for who, action, asset, context, _ in chosen
        )
        for place, decision in zip(places, index.decide_batch(questions, plane), strict=True):
            decisions[place] = decision
    result = [decision for decision in decisions if decision is not None]
    if unknown:
        for place, check in enumerate(batch.checks):
            if check.asset in unknown and check.plane == "data":
                result[place] = decided_unknown(result[place], settings)
    return result


def unknown_facts(tenant: str, asset: str) -> Facts:
    """All that is known of an asset that is not in the catalogue: its id, and its name if it was given."""
    return Facts(ids.resolve(tenant, asset), "" if ids.looks_like_uuid(asset) else asset)


def decided_unknown(decision: Decision, settings: AccessSettings) -> Decision:
    """Closed: denied. Open: allowed unless the user is disabled, or a policy that names the object, or every object,
    decides otherwise."""
    if decision.reason == DISABLED or (decision.policy_id is not None and not decision.allowed):
        return decision
    if settings.unknown_objects == "closed":
        return Decision("deny", None, f"{UNKNOWN} closed")
    return decision if decision.allowed else Decision("allow", None, f"{UNKNOWN} open")


def decision_dict(decision: Decision) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "effect": decision.effect,
        "policy_id": decision.policy_id,
        "reason": decision.reason,
    }
    if decision.mask is not None:
        shown["mask"] = decision.mask.as_json()
    if decision.row_filters:
        shown["row_filter"] = conjunction(decision.row_filters, CANONICAL)
    return shown


def serialised(decisions: Sequence[Decision], version: int) -> bytes:
    """The response. Checks that matched the same policies share a decision, which is serialised once."""
    fragments: dict[int, orjson.Fragment] = {}
    listed = []
    for decision in decisions:
        fragment = fragments.get(id(decision))
        if fragment is None:
            fragment = fragments[id(decision)] = orjson.Fragment(orjson.dumps(decision_dict(decision)))
        listed.append(fragment)
    return orjson.dumps({"decisions": listed, "version": version})
