"""What a run of a target decides by, and for what and whom: the target's own tables and roles, or the catalogue's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lily.model.engine_names import EngineMapping
from lily.plugins.enforcers import Finding, Inventory, PrincipalKind, TargetRole
from lily.policy import Policy, PolicyIndex, Role, compile_policies
from lily.policy.candidates import UnknownObjects
from lily.reactions.enforcement.decisions import Named, named
from lily.reactions.enforcement.named_principals import MAX_PRINCIPALS, named_principals
from lily.reactions.enforcement.principals import Roles
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.enforcement.catalogue import read_catalogue, read_disabled_users
from lily.store.postgres.enforcement.ledger import StoredTarget
from lily.store.postgres.enforcement.unnamed import read_unnamed_columns
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.policies.snapshot import read_snapshot
from lily.store.postgres.policies.stored_objects import parsed
from lily.store.postgres.worker_reads import WorkerReads


@dataclass(frozen=True, slots=True)
class InForce:
    index: PolicyIndex
    mappings: tuple[EngineMapping, ...]
    unknown_objects: UnknownObjects
    wanted: Wanted


@dataclass(frozen=True, slots=True)
class Scope:
    """For what and whom is decided. `denied` are roles that may read nothing."""

    tables: Sequence[Named]
    roles: Sequence[TargetRole]
    mapped: Roles
    denied: frozenset[str] = frozenset()
    kinds: Mapping[str, tuple[PrincipalKind, ...]] = field(default_factory=dict)
    findings: Sequence[Finding] = ()


async def read_in_force(reads: WorkerReads, tenant: str) -> InForce:
    snapshot = await read_snapshot(reads, tenant, -1)
    objects = [parsed(tenant, stored) for stored in snapshot.objects]
    index = compile_policies(
        tenant,
        [one for one in objects if isinstance(one, Policy)],
        [one for one in objects if isinstance(one, Role)],
    )
    rules = await read_tag_rules(reads, tenant)
    return InForce(
        index,
        tuple(one for one in objects if isinstance(one, EngineMapping)),
        (snapshot.version.settings or {}).get("unknown_objects", "closed"),
        Wanted(rules, rules.protective | index.named_tags, bool(index.compared_attributes)),
    )


def of_target(target: StoredTarget, inventory: Inventory, in_force: InForce) -> Scope:
    return Scope(named(inventory, target.data_source, in_force.mappings), inventory.roles, target.roles)


async def of_catalogue(reads: WorkerReads, tenant: str, target: StoredTarget, in_force: InForce) -> Scope:
    policies = in_force.index.policies.values()
    disabled = await read_disabled_users(reads, tenant, MAX_PRINCIPALS + 1)
    found = named_principals(policies, target.roles, disabled)
    tables, findings = await read_catalogue(reads, tenant, target.data_source, policies, in_force.mappings)
    assets = [asset for table in tables for asset in table.assets]
    unnamed = await read_unnamed_columns(reads, tenant, assets, in_force.wanted)
    listed = [
        Named(
            one.table,
            one.name,
            one.columns,
            complete=False,
            unnamed=tuple(facts for asset in one.assets for facts in unnamed.get(asset.id, ())),
        )
        for one in tables
    ]
    remarks = (*findings, *found.findings)
    return Scope(listed, found.roles, found.mapped, found.ambiguous, found.kinds, remarks)
