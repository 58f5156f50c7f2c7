"""Reads what a target has to enforce: the policies in force, its principals, and what is known of its assets now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from psycopg import Connection

from lily.model import ids
from lily.plugins import enforcers
from lily.plugins.enforcers import Finding, Inventory, Path, TargetRole
from lily.policy import Context, Facts, PolicyIndex, Principal, User, fold
from lily.policy.reading import reading_data
from lily.policy.visibility import asset_set
from lily.reactions.enforcement.decisions import Deciding, Group, Named, decisions_for, digest, groups_of
from lily.reactions.enforcement.principals import principals_of, user_names
from lily.reactions.enforcement.scope import of_catalogue, of_target, read_in_force
from lily.store.postgres.enforcement.ledger import Receipt, StoredTarget
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.policies.snapshot import read_users
from lily.store.postgres.policies.stored_objects import stored_user
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


def enforced(connection: Connection[Any], tenant: str, target: StoredTarget, inventory: Inventory | None) -> Enforced:
    """Without an inventory, the catalogue's tables. Raises Terminal if a stored policy cannot be read: without it, too
    much could be allowed."""
    reads = WorkerReads(connection)
    in_force = completed(read_in_force(reads, tenant))
    if inventory is None:
        scope = completed(of_catalogue(reads, tenant, target, in_force))
    else:
        scope = of_target(target, inventory, in_force)
    tables = scope.tables
    candidates = completed(_candidates(reads, tenant, tables, in_force.wanted))
    names = {fold(name) for name in user_names(scope.roles, scope.mapped)}
    users = completed(_users(reads, tenant, names))
    principals = principals_of(scope.roles, scope.mapped, users)
    principals |= {name: Principal(name, disabled=True) for name in scope.denied}
    context = Context(now=datetime.now(UTC))
    deciding = Deciding(in_force.index, in_force.unknown_objects, candidates, context, scope.kinds)
    groups = groups_of(in_force.index, principals)
    decisions = decisions_for(tables, groups, deciding)
    return Enforced(
        decisions,
        _digests(decisions),
        _receipts(tables, candidates, in_force.wanted.protective),
        _concerned(tenant, tables, candidates),
        len(tables),
        sum(len(table.columns) for table in tables),
        [
            *scope.findings,
            *_unrestricted(scope.roles),
            *_without_roles(in_force.index, groups, tables, candidates),
        ],
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
    known = [facts for table in tables for facts in candidates.get(table.name, ())]
    for policy in islice(reading_data(others), MAX_POLICIES):
        about = asset_set([policy])
        if any(about.holds(facts) for facts in known):
            yield Finding(policy.name, "no role of the target is one of the policy's subjects; map one with `roles`")


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
