"""Who gains and who loses access if policies, roles or tags change, compared without changing anything."""

import asyncio
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Call
from lily.api.http.errors import not_found
from lily.api.policy.administration import refuse_cycle
from lily.api.policy.checks import Named, normalised
from lily.api.policy.compiled import TenantPolicies
from lily.api.policy.decisions import rules_in_force
from lily.api.policy.outcomes import decision_dict
from lily.api.policy.retagging import Retagging, TagChange, follow_tags
from lily.model.errors import Problem, Refused
from lily.policy import (
    Action,
    Context,
    Decision,
    Facts,
    Plane,
    Policy,
    PolicyIndex,
    Principal,
    compile_policies,
    fold,
    parse_policy,
    parse_role,
    parse_user,
)
from lily.policy.candidates import decided_unknown, unknown_facts
from lily.policy.roles import Role, inherited_from
from lily.policy.visibility import asset_set
from lily.store.postgres.policies.facts import Wanted, named_assets, read_facts
from lily.store.postgres.policies.snapshot import first_users
from lily.store.postgres.policies.stored_objects import Parsed

MAX_USERS = 20_000
MAX_ASSETS = 1_000
NO_USERS = "users: there are none under /users; create those whom your identity provider knows, with their groups"
MAX_DECISIONS = 400_000  # of groups of users who have the same policies, and assets
MAX_ITEMS = 1_000
Kind = Literal["gains", "loses", "changes"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What would change, and whom and what to compare; empty `users` or `assets` mean those that it concerns."""

    policies: Sequence[Mapping[str, Any]] = ()
    roles: Sequence[Mapping[str, Any]] = ()
    tags: Sequence[TagChange] = ()
    delete_policies: Sequence[str] = ()
    delete_roles: Sequence[str] = ()
    users: Sequence[str] = ()
    assets: Sequence[str] = ()
    actions: Sequence[Action] = ("READ",)
    plane: Plane = "data"
    time: datetime | None = None  # that conditions compare; None is now


@dataclass(frozen=True, slots=True)
class _Group:
    """Users who have the same policies before and after the change, so their decisions are the same."""

    principal: Principal
    names: list[str]


async def dry_run(call: Call, proposal: Proposal) -> dict[str, Any]:
    """Raises Refused for objects that could not be stored, Declined with 404 for one to delete that does not exist."""
    policies = await call.services.policies.get(call.tenant)
    after = changed_objects(call.tenant, policies, proposal)
    index = _compiled(call.tenant, after.values())
    cut: list[str] = []
    users = await _users(call, policies, proposal, cut)
    rules = await rules_in_force(call.services, call.tenant)
    named_tags = asset_set(_policies(after.values())).tags
    wanted = Wanted(rules, rules.protective | policies.named_tags | named_tags, attributes=True)
    retagging = await follow_tags(call, proposal.tags, wanted, cut)
    references = await _assets(call, policies, after, proposal, cut)
    if not proposal.assets:
        references += _reached(call.tenant, retagging, references, cut)
    before_facts = await read_facts(call.services.database, call.tenant, references, wanted)
    after_facts = {reference: found and retagging.applied(found) for reference, found in before_facts.items()}
    result = await asyncio.to_thread(_compared, policies, index, proposal, users, before_facts, after_facts, cut)
    await _leave_out_denied_names(call, result["items"])
    return result | {"users": len(users), "assets": len(references), "cut": cut}


async def _leave_out_denied_names(call: Call, items: Sequence[dict[str, Any]]) -> None:
    """The caller may administer policies and still not read every asset."""
    denied = await denied_references(call, "READ", {item["metadata_id"] for item in items})
    for item in items:
        if item["metadata_id"] in denied:
            item["qualified_name"] = ""


def changed_objects(tenant: str, policies: TenantPolicies, proposal: Proposal) -> dict[tuple[str, str], Parsed]:
    """The tenant's objects as the proposal would leave them."""
    after = dict(policies.objects)
    for kind, what, keys in (("policy", "policy", proposal.delete_policies), ("role", "role", proposal.delete_roles)):
        for key in keys:
            if after.pop((kind, fold(key)), None) is None:
                raise not_found(key, what)
    for body in proposal.policies:
        fields = dict(body)
        policy_id = str(fields.pop("id", None) or uuid.uuid4())
        after["policy", fold(policy_id)] = parse_policy(fields, tenant=tenant, policy_id=policy_id)
    for body in proposal.roles:
        role = parse_role(dict(body))
        after["role", fold(role.name)] = role
    if proposal.roles:
        refuse_cycle(one for one in after.values() if isinstance(one, Role))
    return after


def _policies(objects: Iterable[Parsed]) -> list[Policy]:
    return [one for one in objects if isinstance(one, Policy)]


def _compiled(tenant: str, objects: Iterable[Parsed]) -> PolicyIndex:
    kept = list(objects)
    return compile_policies(tenant, _policies(kept), [one for one in kept if isinstance(one, Role)])


async def _users(
    call: Call, policies: TenantPolicies, proposal: Proposal, cut: list[str]
) -> list[tuple[str, Principal]]:
    if proposal.users:
        known = await call.services.policies.users(policies, proposal.users)
        if without := [name for name in proposal.users if known.get(fold(name)) is None]:
            cut.append(f"users: {len(without)} not under /users, compared without groups and roles: {without[0]}")
        return [(name, Named(name).principal(known)) for name in proposal.users]
    bodies, count = await first_users(call.services.database, call.tenant, MAX_USERS)
    if count > len(bodies):
        cut.append(f"users: the first {len(bodies)} of {count}; name those to compare in `users`")
    if not bodies:
        cut.append(NO_USERS)
    found = [parse_user(body) for body in bodies]
    return [(user.name, Principal(user.name, user.groups, user.roles)) for user in found]


async def _assets(
    call: Call,
    policies: TenantPolicies,
    after: Mapping[tuple[str, str], Parsed],
    proposal: Proposal,
    cut: list[str],
) -> list[str]:
    """The given assets, else those whose tags change and those that the changed policies name."""
    if proposal.assets:
        return list(dict.fromkeys(map(normalised, proposal.assets)))
    concerned = concerned_policies(policies.objects, after)
    named = asset_set(concerned)
    stated = [normalised(change.asset) for change in proposal.tags]
    if not concerned:
        return list(dict.fromkeys(stated))
    found = await named_assets(call.services.database, call.tenant, sorted(named.assets), named, MAX_ASSETS + 1)
    if len(found) > MAX_ASSETS:
        cut.append(f"assets: the first {MAX_ASSETS} that the policies name; name those to compare in `assets`")
    return list(dict.fromkeys([*stated, *found[:MAX_ASSETS]]))


def _reached(tenant: str, retagging: Retagging, references: Sequence[str], cut: list[str]) -> list[str]:
    """The other assets that gain or lose a tag."""
    listed = {unknown_facts(tenant, reference).id for reference in references}
    reached = [asset_id for asset_id in retagging.assets if asset_id not in listed]
    if len(reached) > MAX_ASSETS:
        found = f"the first {MAX_ASSETS} of {len(reached)} that gain or lose a tag"
        cut.append(f"assets: {found}; name those to compare in `assets`")
    return reached[:MAX_ASSETS]


def concerned_policies(
    before: Mapping[tuple[str, str], Parsed], after: Mapping[tuple[str, str], Parsed]
) -> list[Policy]:
    """The policies that change, as they are and as they would be, and those that name a role which changes."""
    changed = [place for place in before.keys() | after.keys() if before.get(place) is not after.get(place)]
    found = {
        id(one): one
        for objects in (before, after)
        for place in changed
        if isinstance(one := objects.get(place), Policy)
    }
    roles: set[str] = set()
    for objects in (before, after):
        inherits = {key: tuple(map(fold, one.inherits)) for (_, key), one in objects.items() if isinstance(one, Role)}
        for kind, key in changed:
            if kind == "role":
                roles |= inherited_from(key, inherits).keys()
    for one in (*before.values(), *after.values()):
        if isinstance(one, Policy) and any(
            subject.kind == "role" and fold(subject.name) in roles for subject in one.subjects
        ):
            found[id(one)] = one
    return list(found.values())


def _compared(  # noqa: PLR0917 - called in a thread
    policies: TenantPolicies,
    index: PolicyIndex,
    proposal: Proposal,
    users: Sequence[tuple[str, Principal]],
    before_facts: Mapping[str, Facts | None],
    after_facts: Mapping[str, Facts | None],
    cut: list[str],
) -> dict[str, Any]:
    plane, context = proposal.plane, Context(now=proposal.time or datetime.now(UTC))
    items: list[dict[str, Any]] = []
    counts: dict[str, int] = {"gains": 0, "loses": 0, "changes": 0}
    for action in proposal.actions:
        groups = _groups(policies.index, index, action, plane, users)
        room = max(MAX_DECISIONS // max(len(groups), 1), 1)
        references = list(before_facts)[:room]
        if len(references) < len(before_facts):
            cut.append(f"assets: {action} was compared for the first {room}, because users differ in their policies")
        for reference in references:
            for group in groups:
                before = _decision(
                    policies, policies.index, group, action, before_facts[reference], reference, context, plane
                )
                after = _decision(policies, index, group, action, after_facts[reference], reference, context, plane)
                kind = change_of(before, after)
                if kind is None:
                    continue
                counts[kind] += len(group.names)
                known = before_facts[reference] or unknown_facts(policies.tenant, reference)
                shown = {"before": decision_dict(before), "after": decision_dict(after)}
                for name in group.names[: MAX_ITEMS - len(items)]:
                    place = {"metadata_id": known.id, "qualified_name": known.qualified_name}
                    items.append({"user": name, "action": action, **place, "change": kind, **shown})
    if sum(counts.values()) > len(items):
        cut.append(f"items: the first {len(items)} of {sum(counts.values())}")
    return {"items": items} | dict(counts)


def _groups(
    before: PolicyIndex, after: PolicyIndex, action: Action, plane: Plane, users: Sequence[tuple[str, Principal]]
) -> list[_Group]:
    """Principals with the same policies share a table of the index."""
    found: dict[tuple[int, int], _Group] = {}
    tables = []  # kept, so that no table's id is used again
    for name, principal in users:
        pair = before.table(principal, action, plane), after.table(principal, action, plane)
        tables.append(pair)
        found.setdefault((id(pair[0]), id(pair[1])), _Group(principal, [])).names.append(name)
    return list(found.values())


def _decision(  # noqa: PLR0917 - called for every pair
    policies: TenantPolicies,
    index: PolicyIndex,
    group: _Group,
    action: Action,
    facts: Facts | None,
    reference: str,
    context: Context,
    plane: Plane,
) -> Decision:
    known = facts or unknown_facts(policies.tenant, reference)
    decision = index.decide(group.principal, action, known, context, plane)
    return (
        decision
        if facts is not None or plane != "data"
        else decided_unknown(decision, policies.settings.unknown_objects)
    )


def change_of(before: Decision, after: Decision) -> Kind | None:
    if before.allowed != after.allowed:
        return "gains" if after.allowed else "loses"
    same = (before.effect, before.mask, before.row_filters) == (after.effect, after.mask, after.row_filters)
    return None if same else "changes"


def refuse_empty(proposal: Proposal) -> None:
    if not (proposal.policies or proposal.roles or proposal.tags or proposal.delete_policies or proposal.delete_roles):
        described = "state at least one of policies, roles, tags, delete_policies and delete_roles"
        raise Refused(Problem("MISSING_FIELD", described, "body"))
