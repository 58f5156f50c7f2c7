"""Why a decision is what it is: policy, role, tag, and the path by which the asset has the tag."""

from dataclasses import replace
from typing import Any

from lily.api.calls import Call
from lily.api.policy.checks import parse_checks
from lily.api.policy.decisions import principals_of, rules_in_force
from lily.api.policy.past_explanations import explain_past
from lily.api.policy.tag_paths import TagPath, explanation_dict, matching_tags, shown_paths
from lily.model.assets import conducting_tags
from lily.model.errors import Transient
from lily.policy import Explanation, Facts
from lily.policy.candidates import decided_unknown, restricting, stated, strictness, unknown_facts
from lily.store.assets import StoredAsset
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.propagation.tag_paths import derivations


async def explain(call: Call, check: Any) -> dict[str, Any]:
    """Raises Refused for a check that is not one."""
    services = call.services
    if isinstance(check, dict) and check.get("as_of") is not None:
        return await explain_past(call, check)
    batch = parse_checks([check])
    (parsed,) = batch.checks
    policies = await services.policies.get(call.tenant)
    (principal,) = await principals_of(services, policies, batch)
    rules = await rules_in_force(services, call.tenant)
    context = batch.contexts[parsed.context]
    candidates = await read_candidates(services.database, call.tenant, {parsed.asset}, policies.wanted(rules))
    found = candidates[parsed.asset]
    known = stated(found)
    explained = [
        (policies.index.explain(principal, parsed.action, facts, context, parsed.plane), facts)
        for facts in [*(known or [unknown_facts(call.tenant, parsed.asset)]), *restricting(found)]
    ]
    if not known and parsed.plane == "data":
        explanation, facts = explained[0]
        decision = decided_unknown(explanation.decision, policies.settings.unknown_objects)
        explained[0] = replace(explanation, decision=decision), facts
    explanation, facts = min(explained, key=lambda one: strictness(one[0].decision))
    decision = explanation.decision
    paths = await _tag_paths(call, facts, explanation)
    shown = await explanation_dict(call, parsed.asset, decision, facts, explanation, known=bool(known))
    return shown | {"tags": await shown_paths(call, paths), "version": policies.version.number}


async def _tag_paths(call: Call, facts: Facts, explanation: Explanation) -> list[TagPath]:
    """The tags by which policies match, each with the path from the asset that states it."""
    wanted = matching_tags(facts, explanation)
    asset = await _asset(call, facts.id) if wanted else None
    if asset is None:
        return []
    stated = conducting_tags(asset.layers)
    paths = [TagPath(stated[tag], "stated", (asset.id,)) for tag in sorted(wanted) if tag in stated]
    names = {**asset.derived_tags.inherited, **asset.derived_tags.propagated}
    return paths + [
        TagPath(names.get(found.tag, found.tag), found.kind, found.path)
        for found in await derivations(call.services.database, asset)
        if found.tag in wanted and found.tag not in stated
    ]


async def _asset(call: Call, asset_id: str) -> StoredAsset | None:
    """None also if only the lake has it and the lake is not available: the decision does not depend on the lake."""
    try:
        return await call.services.catalogue.find(call.tenant, asset_id)
    except Transient:
        return None
