"""The compiled policies of one tenant at one version."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lily.api.policy.settings import AccessSettings
from lily.enforce.trino import ObjectNames
from lily.lineage.tag_rules import TagRules
from lily.model.engine_names import EngineMapping
from lily.policy import (
    Policy,
    PolicyIndex,
    Role,
    ScraperIndex,
    ScraperPolicy,
    User,
    compile_policies,
)
from lily.policy.visibility import asset_set
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.policies.snapshot import Snapshot, Version
from lily.store.postgres.policies.stored_objects import Parsed, parsed


@dataclass(frozen=True)
class TenantPolicies:
    """Immutable but for what was looked up since the version began: `users`, by key, and `restrictions`."""

    tenant: str
    version: Version
    settings: AccessSettings
    index: PolicyIndex
    scrapers: ScraperIndex
    mappings: tuple[EngineMapping, ...]
    named_tags: frozenset[str]  # the tags that policies name, folded
    compares_attributes: bool  # whether a condition depends on attributes of assets
    objects: Mapping[tuple[str, str], Parsed] = field(repr=False)
    users: dict[str, User | None] = field(default_factory=dict, repr=False)
    denies_metadata: bool = True  # whether a policy denies anyone anything on the metadata plane
    restrictions: dict[Hashable, Any] = field(default_factory=dict, repr=False)  # see `lily.api.auth.restrictions`

    @cached_property
    def trino_names(self) -> ObjectNames:
        return ObjectNames(self.mappings)

    def at(self, version: Version) -> "TenantPolicies":
        """The same at a version that changed nothing that is compiled."""
        return TenantPolicies(
            self.tenant,
            version,
            AccessSettings.of(version.settings),
            self.index,
            self.scrapers,
            self.mappings,
            self.named_tags,
            self.compares_attributes,
            self.objects,
            denies_metadata=self.denies_metadata,
        )

    def wanted(self, rules: TagRules) -> Wanted:
        return Wanted(rules, rules.protective | self.named_tags, self.compares_attributes)


def compiled(tenant: str, snapshot: Snapshot, previous: TenantPolicies | None) -> TenantPolicies:
    """Compiles a snapshot. What has not changed since `previous` is taken from there; parsing is the larger part."""
    known = previous.objects if previous else {}
    objects: dict[tuple[str, str], Parsed] = {}
    for stored in snapshot.objects:
        place = (stored.kind, stored.key)
        objects[place] = known[place] if stored.body is None else parsed(tenant, stored)
    policies = [one for one in objects.values() if isinstance(one, Policy)]
    return TenantPolicies(
        tenant,
        snapshot.version,
        AccessSettings.of(snapshot.version.settings),
        compile_policies(tenant, policies, [one for one in objects.values() if isinstance(one, Role)]),
        ScraperIndex(one for one in objects.values() if isinstance(one, ScraperPolicy)),
        tuple(one for one in objects.values() if isinstance(one, EngineMapping)),
        asset_set(policies).tags,
        any(policy.conditions is not None and bool(policy.conditions.asset) for policy in policies),
        objects,
        denies_metadata=any(policy.effect == "deny" and "metadata" in policy.applies_to for policy in policies),
    )
