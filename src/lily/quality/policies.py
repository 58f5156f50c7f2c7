"""Quality policies: which assets are watched for what.

A policy names one asset, or `*` with filters. `policy_type` is the rule; `threshold` is in the unit of the rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from lily.incidents import Severity
from lily.model.lanes import BULK_TYPES

PolicyType = Literal[
    "query_count_deviation",
    "query_spike",
    "unused_for_x_days",
    "deleted_asset",
    "column_dropped",
    "traffic_drop",
    "orphaned_asset",
]
POLICY_TYPES: tuple[PolicyType, ...] = get_args(PolicyType)
EVERY = "*"
DAYS, MAX_DAYS = 7, 90
DELAY_HOURS, MAX_DELAY_HOURS = 1, 48


class Rule(NamedTuple):
    """What a policy of one type states. Without `unit` it takes no threshold; a default of None must be stated."""

    severity: Severity
    unit: str = ""
    threshold: float | None = None
    largest: float = 0
    entity_types: tuple[str, ...] = ()  # of `*`, unless filters name others


RULES: Mapping[PolicyType, Rule] = {
    "query_count_deviation": Rule("warning", "percent", 15, 10**6),
    "query_spike": Rule("warning", "queries", None, 10**12),
    "unused_for_x_days": Rule("info", "days", None, 365),
    "deleted_asset": Rule("critical"),
    "column_dropped": Rule("critical", entity_types=tuple(sorted(BULK_TYPES))),
    "traffic_drop": Rule("warning", "percent", 50, 99, ("dashboard",)),
    "orphaned_asset": Rule("info", "days", 30, 365),
}
CHANGE_DRIVEN: tuple[PolicyType, ...] = ("deleted_asset", "column_dropped")


@dataclass(frozen=True, slots=True)
class QualityPolicy:
    """`asset_id` is None for `*`. Empty `entity_types` or `data_sources` mean all."""

    id: str
    name: str
    asset: str
    asset_id: str | None
    policy_type: PolicyType
    threshold: float
    days: int = DAYS
    delay_hours: int = DELAY_HOURS
    severity: Severity = "warning"
    entity_types: tuple[str, ...] = ()
    data_sources: tuple[str, ...] = ()
    minimum: float = 0

    def as_dict(self) -> dict[str, Any]:
        threshold = int(self.threshold) if float(self.threshold).is_integer() else self.threshold
        return {
            "id": self.id,
            "name": self.name,
            "asset": self.asset,
            "policy_type": self.policy_type,
            "threshold": threshold if RULES[self.policy_type].unit else None,
            "days": self.days,
            "delay_hours": self.delay_hours,
            "severity": self.severity,
            "filters": {
                "entity_types": list(self.entity_types),
                "data_sources": list(self.data_sources),
                "minimum": self.minimum,
            },
        }

    @property
    def watched_types(self) -> tuple[str, ...]:
        """The entity types that it applies to; empty for all. One that names an asset applies whatever its type."""
        if self.entity_types or self.asset_id is not None:
            return self.entity_types
        return RULES[self.policy_type].entity_types
