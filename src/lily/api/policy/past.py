"""Decisions as they would have been at a time: by the policies, roles, users and tags of then, derived tags included.

The history of derived tags has a beginning: the upgrade that introduced it, or what housekeeping has left of it. For an
earlier time, a request is refused where a propagated tag could have changed the decision, instead of answered with a
guess.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from lily.api.calls import Call
from lily.api.policy.checks import Batch
from lily.api.policy.outcomes import strictest
from lily.api.policy.past_assets import PastAsset, PastAssets, Undecidable
from lily.api.policy.settings import AccessSettings
from lily.model.assets import tag_key
from lily.model.errors import Problem, Refused
from lily.model.lanes import RELATIONAL
from lily.policy import (
    Context,
    Decision,
    Facts,
    Policy,
    PolicyIndex,
    Principal,
    Role,
    compile_policies,
    fold,
    parse_user,
)
from lily.policy.candidates import column_of, restricting_by
from lily.policy.names import EVERY
from lily.policy.tables import Table, applies
from lily.policy.visibility import asset_set
from lily.store.postgres.definitions.past_tags import read_tag_rules_at
from lily.store.postgres.policies.facts import TABLE_TYPES
from lily.store.postgres.policies.history import Past, ever_had_edges, read_past, tags_ever_propagating
from lily.store.postgres.policies.snapshot import Stored
from lily.store.postgres.policies.stored_objects import parsed
from lily.store.postgres.propagation.history import history_start

MAX_ASSETS = 100  # each is rebuilt from its events
NOT_RECORDED = "DERIVED_TAGS_NOT_RECORDED"


@dataclass(frozen=True, slots=True)
class PastDecisions:
    """One decision per check, in order, and what they were made from; assets that there were not are None. `above` has
    what a name was directly below, where nothing stated that, and `candidates` what counted of both."""

    decisions: list[Decision]
    index: PolicyIndex
    principals: list[Principal]
    assets: Mapping[str, PastAsset | None]
    above: Mapping[str, PastAsset | None]
    candidates: Mapping[str, list[Facts]]


async def decide_past(call: Call, batch: Batch, as_of: str) -> PastDecisions:
    """Raises Undecidable where a propagated tag could matter and was not recorded, and for a time before the kept
    history; NotRecordedYet if the lake has not reached the time."""
    if len(batch.assets) > MAX_ASSETS:
        described = f"{len(batch.assets)} different assets; with as_of a request may name at most {MAX_ASSETS}"
        raise Refused(Problem("TOO_MANY", described, "checks"))
    database, tenant = call.services.database, call.tenant
    past = await read_past(database, tenant, as_of, {fold(named.user) for named in batch.principals})
    if past.history_from is not None:
        described = f"policies of {as_of} are no longer kept; name a time from {past.history_from} on"
        raise Undecidable(Problem("HISTORY_NOT_KEPT", described, "as_of"))
    index = await asyncio.to_thread(_compiled, tenant, past)
    users = {key: parse_user(body) for key, body in past.users.items()}
    principals = [named.principal(users) for named in batch.principals]
    catalogue = PastAssets(call, as_of, await read_tag_rules_at(database, tenant, as_of))
    assets = {asset: await catalogue.find(asset) for asset in batch.assets}
    above = {asset: await catalogue.named_above(asset, found) for asset, found in assets.items()}
    # Read after the tags: housekeeping may have deleted some of them meanwhile.
    start = await history_start(database, tenant)
    if start is not None and as_of < start:
        assets = {asset: found and found.without_propagated() for asset, found in assets.items()}
        above = {asset: found and found.without_propagated() for asset, found in above.items()}
    named_tags = asset_set(index.policies.values()).tags
    candidates = {
        asset: _meant(
            tenant,
            asset,
            None if found is None else found.facts(named_tags),
            None if (over := above[asset]) is None else over.facts(named_tags),
        )
        for asset, found in assets.items()
    }
    decisions = strictest(index, AccessSettings.of(past.settings), batch, principals, candidates)
    result = PastDecisions(decisions, index, principals, assets, above, candidates)
    if start is not None and as_of < start:
        await _refuse_uncertain(call, batch, result, start)
    return result


def _meant(tenant: str, reference: str, own: Facts | None, above: Facts | None) -> list[Facts]:
    """As decisions about now have it (decision 59), but for names in another case."""
    found = [] if own is None else [own]
    if above is not None:
        column = column_of(tenant, above, own.qualified_name if own else reference)
        certain = above.entity_type in (TABLE_TYPES if own is None else RELATIONAL)
        found.append(column if certain else restricting_by(own or column, above))
    return found


def _compiled(tenant: str, past: Past) -> PolicyIndex:
    stored = [Stored("policy", key, 0, body) for key, body in past.policies.items()]
    stored += [Stored("role", key, 0, body) for key, body in past.roles.items()]
    objects = [parsed(tenant, one) for one in stored]
    policies = [one for one in objects if isinstance(one, Policy)]
    return compile_policies(tenant, policies, [one for one in objects if isinstance(one, Role)])


async def _refuse_uncertain(call: Call, batch: Batch, past: PastDecisions, start: str) -> None:
    """A policy's denial stands whatever tags an asset had besides. Anything else is certain only if no policy for the
    principal names a tag that may have reached the asset along an edge."""
    travelling = await tags_ever_propagating(call.services.database, call.tenant)
    with_edges: dict[str, bool] = {}
    problems = []
    for number, (check, decision) in enumerate(zip(batch.checks, past.decisions, strict=True)):
        known = past.candidates[check.asset]
        if decision.policy_id is not None and not decision.allowed:
            continue
        principal = past.principals[check.principal]
        table, context = past.index.table(principal, check.action, check.plane), batch.contexts[check.context]
        open_tags = {tag for one in known for tag in _open_tags(table, principal, one, context, travelling)}
        if not open_tags:
            continue
        if check.asset not in with_edges:
            held = [one for asset in (past.assets[check.asset], past.above[check.asset]) if asset for one in asset.held]
            family = [*held, *(one.id for one in known), *(above.id for one in known for above in one.ancestors)]
            with_edges[check.asset] = await ever_had_edges(call.services.database, call.tenant, family)
        if with_edges[check.asset]:
            described = (
                f"whether {check.asset} had the tag {' or '.join(sorted(open_tags))} by propagation at that time is "
                f"not recorded, and a policy depends on it; the history of derived tags begins at {start}: "
                "send an as_of that is not earlier"
            )
            problems.append(Problem(NOT_RECORDED, described, f"checks[{number}]"))
    if problems:
        raise Undecidable(*problems[:20])


def _open_tags(
    table: Table, principal: Principal, facts: Facts, context: Context, travelling: frozenset[str]
) -> set[str]:
    """The tags that policies for the principal name, that the asset is not known to have had, and that propagated."""
    found: set[str] = set()
    for policy in table.policies:
        tags = {tag_key(resource.value) for resource in policy.resources if resource.kind == "tag"}
        if not tags or not applies(policy, principal, facts, context):
            continue
        if EVERY in tags and not facts.tags:
            tags |= travelling
        found |= (tags & travelling) - set(facts.tags)
    return found
