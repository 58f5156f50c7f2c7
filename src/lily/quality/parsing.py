"""Validates a quality policy as callers state it."""

from collections.abc import Mapping
from typing import Any

from lily.incidents import SEVERITIES
from lily.model import ids
from lily.model.assets import ENTITY_TYPES
from lily.model.errors import Refused
from lily.model.suggestions import hint
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME, Checker
from lily.quality.policies import (
    DAYS,
    DELAY_HOURS,
    EVERY,
    MAX_DAYS,
    MAX_DELAY_HOURS,
    POLICY_TYPES,
    RULES,
    PolicyType,
    QualityPolicy,
    Rule,
)

MAX_MINIMUM = 10**12
_FIELDS = ("name", "asset", "policy_type", "threshold", "days", "delay_hours", "severity", "filters")
_FILTERS = ("entity_types", "data_sources", "minimum")
# Nobody queries a database or a schema itself, so of all assets these rules would report most of them.
_STATES_TYPES: frozenset[PolicyType] = frozenset({"unused_for_x_days", "orphaned_asset"})


def parse_quality_policy(body: Any, *, tenant: str, policy_id: str) -> QualityPolicy:
    """Raises Refused with every problem."""
    checker = Checker()
    given = _fields(checker, body, _FIELDS, "")
    policy_type = _one_of(checker, given.get("policy_type"), POLICY_TYPES, "policy_type")
    asset = checker.name(given.get("asset"), "asset", MAX_QUALIFIED_NAME)
    stated = given.get("filters")
    filters = _fields(checker, {} if stated is None else stated, _FILTERS, "filters.")
    if policy_type is None or asset is None:
        raise Refused(*checker.problems)
    rule = RULES[policy_type]
    types = _types(checker, filters.get("entity_types"))
    if asset == EVERY and policy_type in _STATES_TYPES and not types:
        described = f'{policy_type} of "*" needs the types for which queries are reported, such as ["table"]'
        checker.refuse("MISSING_FIELD", described, "filters.entity_types")
    policy = QualityPolicy(
        policy_id,
        checker.name(given["name"], "name") or "" if given.get("name") not in (None, "") else "",
        asset,
        None if asset == EVERY else ids.resolve(tenant, asset),
        policy_type,
        _threshold(checker, given.get("threshold"), rule, policy_type),
        int(_number(checker, given.get("days"), DAYS, (1, MAX_DAYS), "days", whole=True)),
        int(_number(checker, given.get("delay_hours"), DELAY_HOURS, (0, MAX_DELAY_HOURS), "delay_hours", whole=True)),
        _one_of(checker, given.get("severity", rule.severity), SEVERITIES, "severity") or rule.severity,
        types,
        tuple(checker.names(filters.get("data_sources") or [], "filters.data_sources", MAX_NAME) or ()),
        _number(checker, filters.get("minimum"), 0, (0, MAX_MINIMUM), "filters.minimum"),
    )
    if checker.problems:
        raise Refused(*checker.problems)
    return policy


def _fields(checker: Checker, given: Any, known: tuple[str, ...], path: str) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        checker.refuse(
            "INVALID_TYPE", f"{path.strip('.') or 'the body'} must be a JSON object", path.strip(".") or "body"
        )
        return {}
    for name in given:
        if name not in known:
            described = f"unknown field `{str(name)[:64]}`; {hint(str(name), known)}"
            checker.refuse("UNKNOWN_FIELD", described, f"{path}{name}")
    return given


def _threshold(checker: Checker, given: Any, rule: Rule, policy_type: PolicyType) -> float:
    if not rule.unit:
        if given is not None:
            checker.refuse("INVALID_VALUE", f"{policy_type} takes no threshold; leave it out", "threshold")
        return 0
    if given is None and rule.threshold is None:
        checker.refuse("MISSING_FIELD", f"{policy_type} needs a threshold in {rule.unit}", "threshold")
    smallest = 1 if rule.unit == "days" else 0
    limits, whole = (smallest, rule.largest), rule.unit == "days"
    return _number(checker, given, rule.threshold or 0, limits, "threshold", whole=whole)


def _number(
    checker: Checker, given: Any, default: float, limits: tuple[float, float], entity: str, *, whole: bool = False
) -> float:
    if given is None:
        return default
    smallest, largest = limits
    kinds = (int,) if whole else (int, float)
    if isinstance(given, bool) or not isinstance(given, kinds) or not smallest <= given <= largest:
        kind = "whole number" if whole else "number"
        described = f"{entity} must be a {kind} from {smallest:g} to {largest:g}, not {str(given)[:32]}"
        checker.refuse("INVALID_VALUE", described, entity)
        return default
    return given


def _types(checker: Checker, given: Any) -> tuple[str, ...]:
    found = checker.names([] if given is None else given, "filters.entity_types") or []
    for name in found:
        if name not in ENTITY_TYPES:
            described = f"unknown entity type `{name[:64]}`; {hint(name, sorted(ENTITY_TYPES))}"
            checker.refuse("INVALID_VALUE", described, "filters.entity_types")
    return tuple(found)


def _one_of(checker: Checker, given: Any, known: tuple[Any, ...], entity: str) -> Any:
    if given in known:
        return given
    described = f"{entity} must be one of {', '.join(known)}, not {str(given)[:64]!r}"
    return checker.refuse("INVALID_VALUE", described, entity)
