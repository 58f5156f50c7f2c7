"""Reads what a target has to enforce: the policies in force, its principals, and what is known of its assets now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from psycopg import Connection

from lily.model import ids
from lily.model.engine_names import EngineMapping
from lily.plugins import enforcers
from lily.plugins.enforcers import Finding, Inventory, Path, TargetRole
from lily.policy import Context, Facts, Policy, PolicyIndex, Role, User, compile_policies, fold
from lily.policy.candidates import UnknownObjects
from lily.policy.visibility import asset_set
from lily.reactions.enforcement.decisions import Deciding, Group, Named, decisions_for, digest, groups_of, named
from lily.reactions.enforcement.principals import principals_of, user_names
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.enforcement.ledger import Receipt, StoredTarget
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.policies.snapshot import read_snapshot, read_users
from lily.store.postgres.policies.stored_objects import parsed, stored_user
from lily.store.postgres.worker_reads import WorkerReads, completed

CHUNK = 5_000  # names of one query
MAX_POLICIES = 200  # that are looked at for a role that is missing in the target


@dataclass(frozen=True, slots=True)
class Enforced:
    """All that is decided for a target at one time. `asset_ids` are the assets whose changes concern it."""

    decisions: Sequence[enforcers.Decision]
    digests: dict[Path, bytes]
    receipts: Sequence[Receipt]
    asset_ids: frozenset[str]
    tables: int
    columns: int
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class _InForce:
    index: PolicyIndex
    mappings: tuple[EngineMapping, ...]
    unknown_objects: UnknownObjects
    wanted: Wanted


def enforced(connection: Connection[Any], tenant: str, target: StoredTarget, inventory: Inventory) -> Enforced:
    """Raises Terminal if a stored policy cannot be read: without it, too much could be allowed."""
    reads = WorkerReads(connection)
    in_force = completed(_in_force(reads, tenant))
    tables = named(inventory, target.data_source, in_force.mappings)
    candidates = completed(_candidates(reads, tenant, tables, in_force.wanted))
    names = {fold(name) for name in user_names(inventory.roles, target.roles)}
    users = completed(_users(reads, tenant, names))
    principals = principals_of(inventory.roles, target.roles, users)
    deciding = Deciding(in_force.index, in_force.unknown_objects, candidates, Context(now=datetime.now(UTC)))
    groups = groups_of(in_force.index, principals)
    decisions = decisions_for(tables, groups, deciding)
    return Enforced(
        decisions,
        _digests(decisions),
        _receipts(tables, candidates, in_force.wanted.protective),
        _concerned(tenant, tables, candidates),
        len(tables),
        sum(len(table.columns) for table in tables),
        [*_unrestricted(inventory.roles), *_without_roles(in_force.index, groups, tables, candidates)],
    )


def _unrestricted(roles: Sequence[TargetRole]) -> Iterator[Finding]:
    for role in roles:
        if role.unrestricted:
            yield Finding(role.name, f"it cannot be restricted: {role.unrestricted}")


def _without_roles(
    index: PolicyIndex, groups: Sequence[Group], tables: Sequence[Named], candidates: dict[str, list[Facts]]
) -> Iterator[Finding]:
    """Policies about tables of the target that name none of its roles: a role may be missing, or be spelt otherwise."""
    held = {policy.id for group in groups for policy in index.table(group.principal, "READ", "data").policies}
    others = (policy for policy in index.policies.values() if policy.id not in held)
    relevant = (policy for policy in others if "READ" in policy.actions and "data" in policy.applies_to)
    known = [facts for table in tables for facts in candidates.get(table.name, ())]
    for policy in islice(relevant, MAX_POLICIES):
        about = asset_set([policy])
        if any(about.holds(facts) for facts in known):
            yield Finding(policy.name, "no role of the target is one of the policy's subjects; map one with `roles`")


async def _in_force(reads: WorkerReads, tenant: str) -> _InForce:
    snapshot = await read_snapshot(reads, tenant, -1)
    objects = [parsed(tenant, stored) for stored in snapshot.objects]
    index = compile_policies(
        tenant,
        [one for one in objects if isinstance(one, Policy)],
        [one for one in objects if isinstance(one, Role)],
    )
    rules = await read_tag_rules(reads, tenant)
    return _InForce(
        index,
        tuple(one for one in objects if isinstance(one, EngineMapping)),
        (snapshot.version.settings or {}).get("unknown_objects", "closed"),
        Wanted(rules, rules.protective | index.named_tags, bool(index.compared_attributes)),
    )


async def _candidates(
    reads: WorkerReads, tenant: str, tables: Sequence[Named], wanted: Wanted
) -> dict[str, list[Facts]]:
    names = [name for table in tables for name in (table.name, *table.columns)]
    found: dict[str, list[Facts]] = {}
    for start in range(0, len(names), CHUNK):
        found |= await read_candidates(reads, tenant, names[start : start + CHUNK], wanted)
    return found


async def _users(reads: WorkerReads, tenant: str, names: set[str]) -> dict[str, User]:
    return {key: stored_user(key, *stored) for key, stored in (await read_users(reads, tenant, names)).items()}


def _digests(decisions: Sequence[enforcers.Decision]) -> dict[Path, bytes]:
    by_table: dict[Path, list[enforcers.Decision]] = {}
    for decision in decisions:
        by_table.setdefault(decision.table, []).append(decision)
    return {path: digest(listed) for path, listed in by_table.items()}


def _receipts(tables: Sequence[Named], candidates: dict[str, list[Facts]], protective: frozenset[str]) -> list[Receipt]:
    """The tags that protect, or that policies name, of every asset of the target."""
    found: dict[tuple[str, str], Receipt] = {}
    for table in tables:
        for name in (table.name, *table.columns):
            for facts in candidates.get(name, ()):
                for tag in sorted(protective.intersection(facts.tags)):
                    found[facts.id, tag] = Receipt(facts.id, tag, facts.qualified_name or name, table.table.path)
    return list(found.values())


def _concerned(tenant: str, tables: Sequence[Named], candidates: dict[str, list[Facts]]) -> frozenset[str]:
    """The assets of the target and all above them, also those that Lily does not know yet."""
    names = {name for table in tables for name in (table.name, *table.columns)}
    known = [facts for listed in candidates.values() for facts in listed]
    above = {ancestor.id for facts in known for ancestor in facts.ancestors}
    return frozenset({ids.asset_id(tenant, name) for name in names} | {facts.id for facts in known} | above)
