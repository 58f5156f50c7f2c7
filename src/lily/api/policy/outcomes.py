"""The pure part of deciding checks: unknown objects, and the shape of decisions in responses."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from lily.api.policy.checks import Batch
from lily.api.policy.settings import AccessSettings
from lily.policy import Check, Decision, Facts, PolicyIndex, Principal, conjunction
from lily.policy.candidates import combined, decided_unknown, unknown_facts

CANONICAL = "postgres"


def strictest(
    index: PolicyIndex,
    settings: AccessSettings,
    batch: Batch,
    principals: Sequence[Principal],
    candidates: Mapping[str, Sequence[Facts]],
) -> list[Decision]:
    """As `decided`; where several assets match a name, the stricter decision holds."""
    first = {name: found[0] if found and not found[0].restricts_only else None for name, found in candidates.items()}
    decisions = decided(index, settings, batch, principals, first)
    several = {name: found[first[name] is not None :] for name, found in candidates.items() if found}
    several = {name: found for name, found in several.items() if found}
    for place, check in enumerate(batch.checks) if several else ():
        for facts in several.get(check.asset, ()):
            context = batch.contexts[check.context]
            about = index.restrictions if facts.restricts_only else index.decide
            other = about(principals[check.principal], check.action, facts, context, check.plane)
            decisions[place] = combined([decisions[place], other])
    return decisions


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
                result[place] = decided_unknown(result[place], settings.unknown_objects)
    return result


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
