"""What policies deny a principal on the metadata plane, and what a scraper group does not cover.

A tenant without such policies costs a look-up in a dict, and so does a principal whom none of them names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from lily.api.policy.compiled import TenantPolicies
from lily.api.services import Services
from lily.model.access import Principal
from lily.policy import ACTIONS, Action, AssetSet, Context, Facts, Visibility
from lily.policy import Principal as PolicyPrincipal
from lily.policy.policies import Policy

PLANE: Final = "metadata"


class Denial(NamedTuple):
    """`policy_id` is None if no scraper policy covers the asset."""

    policy_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Restrictions:
    """Of one principal, at one version of the tenant's policies."""

    policies: TenantPolicies
    principal: PolicyPrincipal
    scraper_group: str
    denied: frozenset[Action]  # the actions that a policy may deny

    def denial(self, action: Action, facts: Facts, context: Context) -> Denial | None:
        """None if the principal may do it."""
        if self.scraper_group:
            covered = self.policies.scrapers.may_write(self.scraper_group, facts)
            if not covered.allowed:
                return Denial(None, f"{covered.reason}; extend one, or use another token")
        if action not in self.denied:
            return None
        decision = self.policies.index.decide(self.principal, action, facts, context, PLANE)
        return None if decision.allowed else self._explained(action, facts, context)

    def hides(self, visibility: Visibility, facts: Facts) -> bool:
        """`denial` of a READ, for many assets."""
        if self.scraper_group and not self.policies.scrapers.may_write(self.scraper_group, facts).allowed:
            return True
        return visibility.hides(facts)

    def visibility(self, context: Context) -> Visibility:
        return self.policies.index.visibility(self.principal, "READ", context, PLANE)

    def depends_on_ancestors(self, action: Action) -> bool:
        """Whether a policy names assets, and so denies their descendants too."""
        return any(key[0] in "in" for key in self._keys(action))

    @property
    def depend_on_tags(self) -> bool:
        """Whether a policy that denies something names a tag."""
        return any(key[0] == "t" for action in self.denied for key in self._keys(action))

    def _keys(self, action: Action) -> set[str]:
        policies = self.policies.index.table(self.principal, action, PLANE).policies
        return {key for policy in _denials(policies) for resource in policy.resources for key in resource.keys}

    def _explained(self, action: Action, facts: Facts, context: Context) -> Denial:
        explanation = self.policies.index.explain(self.principal, action, facts, context, PLANE)
        match = next(found for found in explanation.matches if found.decided)
        via = " → ".join(match.subject_steps)
        reason = f"policy {match.policy.name!r} denies {action} to {via}, because of {match.resource_found}"
        return Denial(match.policy.id, reason)


def names_assets(named: AssetSet) -> bool:
    """Whether ancestors decide who is in the set."""
    return bool(named.assets or named.names)


async def restrictions_of(services: Services, principal: Principal, *actions: Action) -> Restrictions | None:
    """The restrictions of these actions; None if there are none. Raises StoreUnavailable if the policies in force
    cannot be known."""
    policies = await services.policies.get(principal.tenant)
    if not _may_restrict(policies, principal):
        return None
    key = _key(principal)
    if key not in policies.restrictions:
        policies.restrictions[key] = await _looked_up(services, policies, principal)
    return _restricted(policies.restrictions[key], actions)


def reads_everything(services: Services, principal: Principal) -> bool:
    """Whether it is known, without a query, that nothing is denied to the principal's reads."""
    policies = services.policies.current(principal.tenant)
    if policies is None:
        return False
    if not _may_restrict(policies, principal):
        return True
    known: Restrictions | None = policies.restrictions.get(_key(principal))
    return known is not None and _restricted(known, ("READ",)) is None


def _may_restrict(policies: TenantPolicies, principal: Principal) -> bool:
    return policies.denies_metadata or bool(principal.scraper_group)


def _restricted(found: Restrictions, actions: tuple[Action, ...]) -> Restrictions | None:
    return found if found.scraper_group or not found.denied.isdisjoint(actions) else None


def _key(principal: Principal) -> tuple[str, frozenset[str], str]:
    return principal.user, principal.groups, principal.scraper_group


async def _looked_up(services: Services, policies: TenantPolicies, principal: Principal) -> Restrictions:
    known = await services.policies.principal(policies, principal.user, principal.groups)
    denied = {action for action in ACTIONS if _denials(policies.index.table(known, action, PLANE).policies)}
    return Restrictions(policies, known, principal.scraper_group, frozenset(denied))


def _denials(policies: Sequence[Policy]) -> list[Policy]:
    return [policy for policy in policies if policy.effect == "deny"]
