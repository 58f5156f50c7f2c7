"""Decides batches of checks by the policies in force and by what is committed now."""

import asyncio
from collections import Counter

from lily.api.policy.checks import Batch
from lily.api.policy.compiled import TenantPolicies
from lily.api.policy.outcomes import strictest
from lily.api.services import Services
from lily.lineage.tag_rules import TagRules
from lily.policy import Decision, Principal
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.policies.any_case import read_candidates

FEW = 200


async def decide(services: Services, tenant: str, batch: Batch) -> tuple[TenantPolicies, list[Decision]]:
    """Decides by the policies in force and by what is committed now. Raises StoreUnavailable if that is unknown."""
    policies = await services.policies.get(tenant)
    principals = await principals_of(services, policies, batch)
    rules = await rules_in_force(services, tenant)
    candidates = await read_candidates(services.database, tenant, batch.assets, policies.wanted(rules))
    arguments = (policies.index, policies.settings, batch, principals, candidates)
    # In a thread if there are many: the first decision of each principal after a change arranges its policies, which
    # takes milliseconds in a large tenant, and other requests are served meanwhile.
    few = len(batch.checks) <= FEW
    decisions = strictest(*arguments) if few else await asyncio.to_thread(strictest, *arguments)
    for effect, count in Counter(decision.effect for decision in decisions).items():
        services.metrics.policy.decisions[effect].inc(count)
    return policies, decisions


async def principals_of(services: Services, policies: TenantPolicies, batch: Batch) -> list[Principal]:
    users = await services.policies.users(policies, {named.user for named in batch.principals})
    return [named.principal(users) for named in batch.principals]


async def rules_in_force(services: Services, tenant: str) -> TagRules:
    """The tag rules: cached while a change would have been notified, like policies."""
    if services.policies.is_trusted:
        return await services.tag_rules.get(tenant)
    return await read_tag_rules(services.database, tenant)
