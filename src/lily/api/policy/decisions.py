"""Decides batches of checks by the policies in force and by what is committed now."""

import asyncio
from collections import Counter
from collections.abc import Collection

from lily.api.policy.checks import Batch
from lily.api.policy.compiled import TenantPolicies
from lily.api.policy.outcomes import strictest
from lily.api.services import Services
from lily.lineage.tag_rules import TagRules
from lily.model import ids
from lily.policy import Decision, Facts, Principal
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.policies.any_case import other_candidates
from lily.store.postgres.policies.facts import Wanted, read_facts

FEW = 200


async def decide(services: Services, tenant: str, batch: Batch) -> tuple[TenantPolicies, list[Decision]]:
    """Decides by the policies in force and by what is committed now. Raises StoreUnavailable if that is unknown."""
    policies = await services.policies.get(tenant)
    principals = await principals_of(services, policies, batch)
    rules = await rules_in_force(services, tenant)
    candidates = await candidates_for(services, tenant, batch.assets, policies.wanted(rules))
    arguments = (policies.index, policies.settings, batch, principals, candidates)
    # In a thread if there are many: the first decision of each principal after a change arranges its policies, which
    # takes milliseconds in a large tenant, and other requests are served meanwhile.
    few = len(batch.checks) <= FEW
    decisions = strictest(*arguments) if few else await asyncio.to_thread(strictest, *arguments)
    for effect, count in Counter(decision.effect for decision in decisions).items():
        services.metrics.policy.decisions[effect].inc(count)
    return policies, decisions


async def candidates_for(
    services: Services, tenant: str, references: Collection[str], wanted: Wanted
) -> dict[str, list[Facts]]:
    """By reference: the asset, and the others that an engine may mean by the name. Somebody who may ingest assets could
    otherwise lift a denial by ingesting one that is spelled as the engine spells it."""
    facts = await read_facts(services.database, tenant, references, wanted)
    names = {name: found for name, found in facts.items() if not ids.looks_like_uuid(name)}
    others = await other_candidates(services.database, tenant, names, wanted) if names else {}
    return {name: [*([found] if found else ()), *others.get(name, ())] for name, found in facts.items()}


async def principals_of(services: Services, policies: TenantPolicies, batch: Batch) -> list[Principal]:
    users = await services.policies.users(policies, {named.user for named in batch.principals})
    return [named.principal(users) for named in batch.principals]


async def rules_in_force(services: Services, tenant: str) -> TagRules:
    """The tag rules: cached while a change would have been notified, like policies."""
    if services.policies.is_trusted:
        return await services.tag_rules.get(tenant)
    return await read_tag_rules(services.database, tenant)
