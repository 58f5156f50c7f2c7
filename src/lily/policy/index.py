"""The compiled policies of one tenant: decides, explains, and reports what a list must leave out."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from lily.model.assets import tag_key
from lily.policy.decisions import Decision
from lily.policy.explanations import Explanation, explained
from lily.policy.names import EVERY
from lily.policy.policies import ACTIONS, PLANES, Action, Plane, Policy
from lily.policy.requests import NO_CONTEXT, Check, Context, Facts, Principal
from lily.policy.roles import Role, User
from lily.policy.subjects import Directory, DuplicateNames
from lily.policy.tables import DisabledTable, Table
from lily.policy.visibility import Visibility, visible

MAX_PRINCIPALS = 20_000  # whose tables are looked up by one key; about 200 bytes each
MAX_TABLES = 1_000  # sets of subjects; principals with the same groups and roles in policies share one


class PolicyIndex:
    """Immutable but for what it remembers, so threads may share it. A change of policies is a new index."""

    def __init__(self, tenant: str, policies: Iterable[Policy], roles: Iterable[Role], users: Iterable[User]) -> None:
        self.tenant = tenant
        self.policies: dict[str, Policy] = {}
        self._directory = Directory(roles, users)
        self._by_subject: dict[str, list[Policy]] = {}
        for policy in policies:
            if policy.id in self.policies:
                raise DuplicateNames(f"two policies have the id {policy.id!r}; give each its own")
            self.policies[policy.id] = policy
            for key in {subject.key for subject in policy.subjects}:
                self._by_subject.setdefault(key, []).append(policy)
        self._known: dict[Plane, dict[Action, dict[str, Table]]] = {p: {a: {} for a in ACTIONS} for p in PLANES}
        self._shared: dict[tuple[Plane, Action, tuple[str, ...]], Table] = {}

    @cached_property
    def named_tags(self) -> frozenset[str]:
        """The folded tags that policies name. They are protective: taking one away would change decisions."""
        resources = (resource for policy in self.policies.values() for resource in policy.resources)
        return frozenset(tag_key(resource.value) for resource in resources if resource.kind == "tag") - {EVERY}

    @cached_property
    def compared_attributes(self) -> frozenset[str]:
        """The attributes of assets that conditions compare: all that `Facts.attributes` needs to have."""
        conditions = (policy.conditions for policy in self.policies.values() if policy.conditions is not None)
        return frozenset(name for one in conditions for name in one.asset)

    def decide(
        self,
        principal: Principal,
        action: Action,
        facts: Facts,
        context: Context = NO_CONTEXT,
        plane: Plane = "data",
    ) -> Decision:
        """Deny first; then, on the data plane, denied unless a policy allows it, narrowed by masks and row filters."""
        return self.table(principal, action, plane).decide(principal, facts, context)

    def restrictions(
        self,
        principal: Principal,
        action: Action,
        facts: Facts,
        context: Context = NO_CONTEXT,
        plane: Plane = "data",
    ) -> Decision:
        """What policies restrict, as if something allowed it: deny, mask, row filter, or else allow."""
        return self.table(principal, action, plane).restrictions(principal, facts, context)

    def decide_batch(self, checks: Iterable[Check], plane: Plane = "data") -> list[Decision]:
        """One decision per check, in order."""
        known, decisions = self._known[plane], []
        for principal, action, facts, context in checks:
            table = known[action].get(principal.key) or self.table(principal, action, plane)
            decisions.append(table.decide(principal, facts, context))
        return decisions

    def explain(
        self, principal: Principal, action: Action, facts: Facts, context: Context = NO_CONTEXT, plane: Plane = "data"
    ) -> Explanation:
        """The decision with every policy that matches, how it matches, and which of them decided."""
        held = self._directory.subjects(principal)
        return explained(self.table(principal, action, plane), held, principal, facts, context)

    def visibility(
        self, principal: Principal, action: Action = "READ", context: Context = NO_CONTEXT, plane: Plane = "metadata"
    ) -> Visibility:
        """What deny policies hide from a principal, as sets for one WHERE clause."""
        return visible(self.table(principal, action, plane), principal, context)

    def table(self, principal: Principal, action: Action, plane: Plane) -> Table:
        """The policies that name the principal, for one action and plane."""
        known = self._known[plane][action]
        table = known.get(principal.key)
        if table is None:
            table = self._compiled(principal, action, plane)
            _make_room(known, MAX_PRINCIPALS)
            known[principal.key] = table
        return table

    def _compiled(self, principal: Principal, action: Action, plane: Plane) -> Table:
        if principal.disabled and plane == "data":
            return DisabledTable(action)
        keys = tuple(sorted(held.key for held in self._directory.subjects(principal) if held.key in self._by_subject))
        table = self._shared.get((plane, action, keys))
        if table is None:
            policies = {policy.id: policy for key in keys for policy in self._by_subject[key]}
            table = Table(policies.values(), action, plane)
            _make_room(self._shared, MAX_TABLES)
            self._shared[plane, action, keys] = table
        return table


def compile_policies(
    tenant: str, policies: Iterable[Policy], roles: Iterable[Role] = (), users: Iterable[User] = ()
) -> PolicyIndex:
    """Raises DuplicateNames if two users or two roles have the same name but for case, or two policies the same id."""
    return PolicyIndex(tenant, policies, roles, users)


def _make_room(kept: dict[Any, Any], limit: int) -> None:
    """Drops the oldest entry of a full cache."""
    while len(kept) >= limit:
        kept.pop(next(iter(kept)), None)
