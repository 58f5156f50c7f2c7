"""Decisions as they would have been at a time: by the policies, roles, users and tags of then.

How tags propagated is not recorded yet. Where a propagated tag could have changed a decision, the request is refused
instead of answered with a guess.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from lily.api.calls import Call
from lily.api.http.errors import Declined
from lily.api.policy.checks import Batch
from lily.api.policy.outcomes import decided
from lily.api.policy.settings import AccessSettings
from lily.api.reads.as_of import rebuild_past
from lily.lineage.inheritance import Ancestor as TaggedAncestor
from lily.lineage.inheritance import inherited_tags
from lily.lineage.tag_rules import TagRules
from lily.model import ids
from lily.model.assets import (
    LAYERS,
    effective_tag_keys,
    entity_type,
    is_deleted,
    shown_fields,
    stated_tags,
    suppressions,
)
from lily.model.errors import Problem, Refused
from lily.model.layers import TAGS
from lily.policy import (
    Ancestor,
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
from lily.policy.names import EVERY
from lily.policy.tables import Table, applies
from lily.policy.visibility import asset_set
from lily.store.assets import StoredAsset
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.policies.history import Past, ever_had_edges, read_past, tags_ever_propagating
from lily.store.postgres.policies.snapshot import Stored
from lily.store.postgres.policies.stored_objects import parsed

MAX_ASSETS = 100  # each is rebuilt from its events
MAX_DEPTH = 64
NOT_RECORDED = "DERIVED_TAGS_NOT_RECORDED"


async def decide_past(call: Call, batch: Batch, as_of: str) -> list[Decision]:
    """Raises Undecidable where a propagated tag could matter, NotRecordedYet if the lake has not reached the time."""
    assets = batch.assets
    if len(assets) > MAX_ASSETS:
        described = f"{len(assets)} different assets; with as_of a request may name at most {MAX_ASSETS}"
        raise Refused(Problem("TOO_MANY", described, "checks"))
    users = {fold(named.user) for named in batch.principals}
    past = await read_past(call.services.database, call.tenant, as_of, users)
    index = await asyncio.to_thread(_compiled, call.tenant, past)
    found = {key: parse_user(body) for key, body in past.users.items()}
    principals = [named.principal(found) for named in batch.principals]
    rules = await read_tag_rules(call.services.database, call.tenant)
    catalogue = _PastAssets(call, as_of, rules, asset_set(index.policies.values()).tags)
    facts = {asset: await catalogue.facts(asset) for asset in assets}
    decisions = decided(index, AccessSettings.of(past.settings), batch, principals, facts)
    await _refuse_uncertain(call, index, batch, principals=principals, facts=facts, decisions=decisions)
    return decisions


def _compiled(tenant: str, past: Past) -> PolicyIndex:
    stored = [Stored("policy", key, 0, body) for key, body in past.policies.items()]
    stored += [Stored("role", key, 0, body) for key, body in past.roles.items()]
    objects = [parsed(tenant, one) for one in stored]
    policies = [one for one in objects if isinstance(one, Policy)]
    return compile_policies(tenant, policies, [one for one in objects if isinstance(one, Role)])


class _PastAssets:
    """Assets as they were, with the tags that they stated and inherited. Each is read once."""

    def __init__(self, call: Call, as_of: str, rules: TagRules, named_tags: frozenset[str]) -> None:
        self._call, self._as_of, self._rules = call, as_of, rules
        self._protective = rules.protective | named_tags
        self._read: dict[str, StoredAsset | None] = {}

    async def facts(self, reference: str) -> Facts | None:
        """None if there was no such asset."""
        asset = await self._asset(ids.resolve(self._call.tenant, reference))
        if asset is None:
            return None
        above = [one async for one in self._above(asset)]
        tagged = [
            TaggedAncestor(
                one.id,
                frozenset(stated_tags(one.layers)),
                frozenset(),
                frozenset(suppressions(one.layers)),
                is_deleted(one.layers),
            )
            for one in above
        ]
        inherited = inherited_tags(tagged, cut=self._rules.cut_deleted)
        stated = [asset.layers[name].fields.get(TAGS) if name in asset.layers else None for name in LAYERS]
        attributes: dict[str, Any] = shown_fields(asset.layers)
        return Facts(
            asset.id,
            asset.qualified_name,
            entity_type(asset.layers),
            str(attributes.get("data_source") or ""),
            tuple(Ancestor(one.id, one.qualified_name) for one in above),
            effective_tag_keys(stated, inherited, suppressions(asset.layers), self._protective),
            attributes,
        )

    async def _above(self, asset: StoredAsset) -> AsyncIterator[StoredAsset]:
        seen = {asset.id}
        parent = asset.parent
        while parent is not None and parent not in seen and len(seen) < MAX_DEPTH:
            seen.add(parent)
            found = await self._asset(parent)
            if found is None:
                return
            yield found
            parent = found.parent

    async def _asset(self, asset_id: str) -> StoredAsset | None:
        if asset_id not in self._read:
            try:
                self._read[asset_id] = await rebuild_past(self._call, asset_id, asset_id, self._as_of)
            except Declined as error:
                if error.status != 404:
                    raise
                self._read[asset_id] = None
        return self._read[asset_id]


async def _refuse_uncertain(
    call: Call,
    index: PolicyIndex,
    batch: Batch,
    *,
    principals: list[Principal],
    facts: dict[str, Facts | None],
    decisions: list[Decision],
) -> None:
    """A policy's denial stands whatever tags an asset had besides. Anything else is certain only if no policy for the
    principal names a tag that may have reached the asset along an edge."""
    travelling = await tags_ever_propagating(call.services.database, call.tenant)
    with_edges: dict[str, bool] = {}
    problems = []
    for number, (check, decision) in enumerate(zip(batch.checks, decisions, strict=True)):
        known = facts[check.asset]
        if known is None or (decision.policy_id is not None and not decision.allowed):
            continue
        principal = principals[check.principal]
        table = index.table(principal, check.action, check.plane)
        open_tags = _open_tags(table, principal, known, batch.contexts[check.context], travelling)
        if not open_tags:
            continue
        if check.asset not in with_edges:
            family = [known.id, *(one.id for one in known.ancestors)]
            with_edges[check.asset] = await ever_had_edges(call.services.database, call.tenant, family)
        if with_edges[check.asset]:
            described = (
                f"whether {check.asset} had the tag {' or '.join(sorted(open_tags))} by propagation at that time is "
                "not recorded, and a policy depends on it; check an asset without lineage, or leave out as_of"
            )
            problems.append(Problem(NOT_RECORDED, described, f"checks[{number}]"))
    if problems:
        raise Undecidable(*problems[:20])


class Undecidable(Declined):
    """The question about the past depends on something that was not recorded."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(422, problems[0])
        self.problems = problems


def _open_tags(
    table: Table, principal: Principal, facts: Facts, context: Context, travelling: frozenset[str]
) -> set[str]:
    """The tags that policies for the principal name, that the asset is not known to have had, and that propagated."""
    found: set[str] = set()
    for policy in table.policies:
        tags = {fold(resource.value) for resource in policy.resources if resource.kind == "tag"}
        if not tags or not applies(policy, principal, facts, context):
            continue
        if EVERY in tags and not facts.tags:
            tags |= travelling
        found |= (tags & travelling) - set(facts.tags)
    return found
