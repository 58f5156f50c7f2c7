"""What is known of an asset when it is judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from lily.quality.policies import QualityPolicy


class Reported(NamedTuple):
    """The first and the last day for which a tenant reported the usage of any asset."""

    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Subject:
    """`qualified_name` is the id if nothing has described the asset. `is_known` is False if PostgreSQL does not have
    it: nobody stated it yet, or only the lake has it."""

    asset_id: str
    qualified_name: str
    is_known: bool = True
    entity_type: str = ""
    data_source: str = ""
    created: date | None = None
    deleted_at: datetime | None = None
    private_at: datetime | None = None
    downstream: int = 0  # assets that are derived from it or from what is below it, and not deleted
    first_used: date | None = None  # the first day with a report
    last_used: date | None = None  # the last day with a query
    queries: Mapping[date, int] = field(default_factory=dict)  # of recent days; none means 0
    reported: Reported | None = None  # by the tenant

    @property
    def name(self) -> str:
        """The last part of the name, for titles."""
        return self.qualified_name.rpartition(".")[2] or self.qualified_name

    def on(self, day: date) -> int:
        return self.queries.get(day, 0)


def applies(policy: QualityPolicy, subject: Subject) -> bool:
    """Whether the policy watches the asset. A policy for all assets watches those that the catalogue has."""
    if policy.asset_id is None and not subject.is_known:
        return False
    if policy.asset_id not in (None, subject.asset_id):
        return False
    if policy.watched_types and subject.entity_type not in policy.watched_types:
        return False
    return not policy.data_sources or subject.data_source in policy.data_sources
