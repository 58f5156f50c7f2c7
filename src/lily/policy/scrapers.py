"""Scraper policies: which assets the token of a scraper group may read and write."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lily.model.assets import ENTITY_TYPES
from lily.model.lanes import BULK_TYPES
from lily.model.suggestions import MAX_LENGTH
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME, Checker
from lily.policy.fields import finish, hint_any_case, own_name, the_object
from lily.policy.names import EVERY, fold
from lily.policy.requests import Facts

FIELDS = ("name", "scraper_group", "sources", "entity_types", "allowed_columns")
COLUMN_TYPES = BULK_TYPES  # what `allowed_columns` speaks about
BELOW = ".*"  # at the end of an allowed column: everything below that name


@dataclass(frozen=True, slots=True)
class ScraperPolicy:
    """What one scraper group may read and write. None, like `*`, is any.

    A policy that states `allowed_columns` alone covers columns alone. `shop.public.orders.*` among them stands for
    every column below that name.
    """

    id: str
    name: str
    scraper_group: str
    sources: tuple[str, ...] | None = None
    entity_types: tuple[str, ...] | None = None
    allowed_columns: tuple[str, ...] | None = None

    def as_dict(self) -> dict[str, Any]:
        """The fields as the API takes and shows them."""
        shown = {
            "name": self.name,
            "scraper_group": self.scraper_group,
            "sources": self.sources and list(self.sources),
            "entity_types": self.entity_types and list(self.entity_types),
            "allowed_columns": self.allowed_columns and list(self.allowed_columns),
        }
        return {field: value for field, value in shown.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ScraperDecision:
    allowed: bool
    policy_id: str | None
    reason: str


class ScraperIndex:
    """The scraper policies of one tenant. What no policy of a group covers is denied."""

    def __init__(self, policies: Iterable[ScraperPolicy]) -> None:
        self._rules: dict[str, list[_Rule]] = {}
        for policy in sorted(policies, key=lambda one: one.id):
            self._rules.setdefault(fold(policy.scraper_group), []).append(_Rule(policy))

    def may_write(self, scraper_group: str, facts: Facts) -> ScraperDecision:
        """Whether a token that is bound to a scraper group may write the asset, or read it: the rule is the same."""
        rules = self._rules.get(fold(scraper_group), ())
        for rule in rules:
            if rule.covers(facts):
                reason = f"scraper policy {rule.policy.name!r} covers it"
                return ScraperDecision(allowed=True, policy_id=rule.policy.id, reason=reason)
        what = "covers this asset" if rules else "exists"
        reason = f"no scraper policy of the group {scraper_group!r} {what}"
        return ScraperDecision(allowed=False, policy_id=None, reason=reason)

    def may_refresh(self, scraper_group: str, data_source: str) -> bool:
        """Whether such a token may run the refreshes of a data source: a policy of its group covers assets there."""
        return any(rule.names(data_source) for rule in self._rules.get(fold(scraper_group), ()))


class _Rule:
    """A scraper policy, prepared for comparison."""

    def __init__(self, policy: ScraperPolicy) -> None:
        self.policy = policy
        self._sources = _folded(policy.sources)
        self._types = _folded(policy.entity_types)
        self._columns = _folded(policy.allowed_columns)
        self._only_columns = policy.sources is None and policy.entity_types is None
        self._prefixes = tuple(name[:-1] for name in self._columns or () if name.endswith(BELOW))

    def names(self, data_source: str) -> bool:
        return self._sources is None or fold(data_source) in self._sources

    def covers(self, facts: Facts) -> bool:
        if self._sources is not None and fold(facts.data_source) not in self._sources:
            return False
        entity_type = fold(facts.entity_type)
        if self._types is not None and entity_type not in self._types:
            return False
        if entity_type not in COLUMN_TYPES:
            return not self._only_columns
        return self._columns is None or self._covers_column(fold(facts.qualified_name))

    def _covers_column(self, name: str) -> bool:
        return name in (self._columns or ()) or bool(self._prefixes and name.startswith(self._prefixes))


def parse_scraper_policy(data: Any, *, policy_id: str) -> ScraperPolicy:
    """Raises Refused with every problem found."""
    checker, fields = the_object(data, FIELDS, "scraper policy")
    name = own_name(checker, fields, "scraper policy")
    group = fields.get("scraper_group")
    if group is None:
        checker.refuse("MISSING_FIELD", "scraper_group is required: whose tokens the policy is for", "scraper_group")
    else:
        group = checker.name(group, "scraper_group")
    if group == EVERY:
        checker.refuse("INVALID_VALUE", "scraper_group must name one group", "scraper_group")
    sources = _listed(checker, fields.get("sources"), "sources", MAX_NAME)
    entity_types = _listed(checker, fields.get("entity_types"), "entity_types", MAX_NAME)
    columns = _listed(checker, fields.get("allowed_columns"), "allowed_columns", MAX_QUALIFIED_NAME)
    _refuse_types(checker, entity_types)
    if sources is entity_types is columns is None:
        described = 'state at least one of sources, entity_types and allowed_columns; ["*"] is any'
        checker.refuse("MISSING_FIELD", described, "sources")
    finish(checker)
    return ScraperPolicy(policy_id, name, group or "", sources, entity_types, columns)


def _listed(checker: Checker, value: Any, entity: str, limit: int) -> tuple[str, ...] | None:
    if value is None:
        return None
    found = checker.names(value, entity, limit)
    if found == []:
        checker.refuse("INVALID_VALUE", f'{entity} must not be empty; leave it out, or use ["*"], for any', entity)
    return tuple(found or ())


def _refuse_types(checker: Checker, entity_types: tuple[str, ...] | None) -> None:
    for at, given in enumerate(entity_types or ()):
        if given != EVERY and fold(given) not in ENTITY_TYPES:
            described = f"unknown entity type {given[:MAX_LENGTH]!r}; {hint_any_case(given, ENTITY_TYPES)}"
            checker.refuse("UNKNOWN_ENTITY_TYPE", described, f"entity_types[{at}]")


def _folded(names: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if names is None or EVERY in names else frozenset(map(fold, names))
