"""The compiled policies of one tenant at one version."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lily.api.policy.settings import AccessSettings
from lily.enforce.trino import ObjectNames
from lily.lineage.tag_rules import TagRules
from lily.model.engine_names import EngineMapping, parse_engine_mapping
from lily.model.errors import Refused, Terminal
from lily.policy import (
    Policy,
    PolicyIndex,
    Role,
    ScraperIndex,
    ScraperPolicy,
    User,
    compile_policies,
    parse_role,
    parse_scraper_policy,
    stored_policy,
)
from lily.policy.visibility import asset_set
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.policies.snapshot import Snapshot, Stored, Version

Parsed = Policy | Role | ScraperPolicy | EngineMapping


class InvalidStoredObject(Terminal):
    """A stored policy, role, scraper policy or engine mapping cannot be compiled, so the tenant has no decisions."""


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


def parsed(tenant: str, stored: Stored) -> Parsed:
    """Raises InvalidStoredObject. Without one of its policies a tenant could allow too much, so nothing is decided."""
    try:
        return _parsed(tenant, stored)
    except (Refused, KeyError) as error:
        described = f"The stored {stored.kind} {stored.key!r} of the tenant {tenant} is not valid: {error}."
        raise InvalidStoredObject(f"{described} Replace or delete it.") from error


def _parsed(tenant: str, stored: Stored) -> Parsed:
    body: dict[str, Any] = dict(stored.body or {})
    if stored.kind == "role":
        return parse_role(body)
    object_id = str(body.pop("id"))
    if stored.kind == "policy":
        return stored_policy(body, tenant=tenant, policy_id=object_id)
    if stored.kind == "scraper-policy":
        return parse_scraper_policy(body, policy_id=object_id)
    return parse_engine_mapping(body, mapping_id=object_id)
