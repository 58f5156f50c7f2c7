"""Quality policies as they are stored, for the judgement."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from lily.quality.judgement import Finding
from lily.quality.policies import QualityPolicy
from lily.store.postgres.queries import query


@dataclass(frozen=True, slots=True)
class StoredPolicy:
    """`is_new`: its assets were not all judged since it was created or changed."""

    key: str
    policy: QualityPolicy
    updated_at: datetime
    is_new: bool

    def is_silent(self, finding: Finding) -> bool:
        """A change from before the policy is not reported: a new policy watches what changes from then on."""
        return self.is_new and finding.since is not None and finding.since < self.updated_at


def stored_policies(connection: Connection[Any], tenant: str) -> list[StoredPolicy]:
    rows = connection.execute(query("quality/policies"), {"tenant": tenant}).fetchall()
    return [
        StoredPolicy(key, _policy_of(body, asset_id), updated_at, is_new)
        for key, body, asset_id, updated_at, is_new in rows
    ]


def _policy_of(body: dict[str, Any], asset_id: str | None) -> QualityPolicy:
    filters = body["filters"]
    return QualityPolicy(
        id=body["id"],
        name=body["name"],
        asset=body["asset"],
        asset_id=asset_id,
        policy_type=body["policy_type"],
        threshold=body["threshold"] or 0,
        days=body["days"],
        delay_hours=body["delay_hours"],
        severity=body["severity"],
        entity_types=tuple(filters["entity_types"]),
        data_sources=tuple(filters["data_sources"]),
        minimum=filters["minimum"],
    )
