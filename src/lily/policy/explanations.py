"""Why a decision is what it is: every policy that matches, by which subject and which resource."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from lily.policy import names
from lily.policy.conditions import Conditions
from lily.policy.decisions import Decision
from lily.policy.policies import Policy, Resource, Subject
from lily.policy.requests import Ancestor, Context, Facts, Principal
from lily.policy.subjects import Held
from lily.policy.tables import Table, applies

Outcome = Literal["holds", "fails", "unknown"]
_OUTCOMES: dict[bool | None, Outcome] = {True: "holds", False: "fails", None: "unknown"}


class ConditionOutcome(NamedTuple):
    """`name` is the field in `conditions`, such as `networks` or `attributes.asset`."""

    name: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class PolicyMatch:
    """A policy that names both the principal and the asset.

    `subject_steps` lead from the principal to the subject: `("user ann", "group hr", "role reader")`.
    `resource_found` is what of the asset matched: `the asset itself`, `its ancestor shop.public`, `its tag pii`, …
    `decided` is true for each policy that the decision rests on: the reported one, and every row filter.
    """

    policy: Policy
    subject: Subject
    subject_steps: tuple[str, ...]
    resource: Resource
    resource_found: str
    conditions: tuple[ConditionOutcome, ...]
    applies: bool
    decided: bool

    def as_dict(self) -> dict[str, Any]:
        return {
            "policy_id": self.policy.id,
            "name": self.policy.name,
            "effect": self.policy.effect,
            "priority": self.policy.priority,
            "subject": {self.subject.kind: self.subject.name},
            "via": list(self.subject_steps),
            "resource": {self.resource.kind: self.resource.value},
            "matched": self.resource_found,
            "conditions": dict(self.conditions),
            "applies": self.applies,
            "decided": self.decided,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    decision: Decision
    matches: tuple[PolicyMatch, ...]  # the first to consider first; those whose conditions fail are listed too
    subjects: tuple[Held, ...]  # everything the principal is to policies, whether or not a policy names it


def explained(table: Table, held: Sequence[Held], principal: Principal, facts: Facts, context: Context) -> Explanation:
    """The explanation of what `table` decides for the same question."""
    decide = table.restrictions if facts.restricts_only else table.decide
    decision = decide(principal, facts, context)
    by_key = {one.key: one for one in held}
    matches = []
    for policy in table.matching(facts):
        ways = {subject: by_key[subject.key].steps for subject in policy.subjects if subject.key in by_key}
        subject = min(ways, key=lambda found: len(ways[found]))
        resource, found = _matched_resource(policy, facts)
        active = applies(policy, principal, facts, context)
        decided = active and _is_decisive(policy, decision)
        outcomes = _outcomes(policy.conditions, principal, facts, context)
        matches.append(PolicyMatch(policy, subject, ways[subject], resource, found, outcomes, active, decided))
    return Explanation(decision, tuple(matches), tuple(held))


def _is_decisive(policy: Policy, decision: Decision) -> bool:
    return policy.id == decision.policy_id or (
        policy.effect == "row-filter" and policy.row_filter in decision.row_filters
    )


def _outcomes(
    conditions: Conditions | None, principal: Principal, facts: Facts, context: Context
) -> tuple[ConditionOutcome, ...]:
    if conditions is None:
        return ()
    found = [(one.name, one.holds(context)) for one in conditions.circumstances]
    if conditions.principal:
        found.append(("attributes.principal", conditions.principal_outcome(principal)))
    if conditions.asset:
        found.append(("attributes.asset", conditions.asset_outcome(facts)))
    return tuple(ConditionOutcome(name, _OUTCOMES[outcome]) for name, outcome in found)


def _matched_resource(policy: Policy, facts: Facts) -> tuple[Resource, str]:
    """The first resource of the policy that names the asset, and what of the asset it names."""
    for resource in policy.resources:
        for key in resource.keys:
            if key == names.EVERYTHING or key in facts.keys:
                return resource, _what_matched(resource, key, facts)
    raise AssertionError(f"policy {policy.id} matches no key of {facts.id}")


def _what_matched(resource: Resource, key: str, facts: Facts) -> str:
    if key == names.EVERYTHING:
        return "every asset"
    if resource.kind == "tag":
        return f"its tag {resource.value}" if resource.value != names.EVERY else "its having a tag"
    if resource.kind == "entity_type":
        return f"its entity type {resource.value}"
    if resource.kind == "data_source":
        return f"its data source {facts.data_source}"
    if key in {names.id_key(facts.id), names.name_key(facts.qualified_name)}:
        return "the asset itself"
    return _above(key, facts)


def _above(key: str, facts: Facts) -> str:
    found = _by_key(facts.ancestors).get(key)
    if found is not None:
        return f"its ancestor {found.qualified_name or found.id}"
    return f"its name, which is below {_by_key(facts.names_above)[key].qualified_name}"


def _by_key(ancestors: Iterable[Ancestor]) -> dict[str, Ancestor]:
    by_id = {names.id_key(one.id): one for one in ancestors}
    return by_id | {names.name_key(one.qualified_name): one for one in by_id.values() if one.qualified_name}
