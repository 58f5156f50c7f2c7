"""Reads what the judgement needs to know of assets, for thousands of them at once."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from psycopg import Connection

from lily.quality.days import Calendar
from lily.quality.policies import CHANGE_DRIVEN, RULES, QualityPolicy
from lily.quality.subjects import Reported, Subject
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query

AT_ONCE = 2_000  # assets of one query: bounds memory, and how long a tenant's lock is held
PRIVATE = "private"  # the tag that makes an asset private, folded
NOWHERE = "00000000-0000-0000-0000-000000000000"  # before every id
_OF_GRAPH = frozenset({"column_dropped", "orphaned_asset"})


class Page(NamedTuple):
    """The next assets of a policy, after an id."""

    tenant: str
    policy: str
    after: str = NOWHERE


def read_subjects(
    connection: Connection[Any],
    tenant: str,
    assets: Sequence[str],
    policies: Sequence[QualityPolicy],
    now: datetime,
) -> list[Subject]:
    """One subject for each asset, with what these policies need to know of it."""
    if not policies:
        return []
    # The days that are compared, those before them, and the partial ones after.
    window = timedelta(days=max(policy.days for policy in policies) + 4)
    parameters = {
        "tenant": tenant,
        "ids": id_array(assets),
        "private": PRIVATE,
        "since": now.date() - window,
        "downstream": any(policy.policy_type in _OF_GRAPH for policy in policies),
    }
    row = connection.execute(query("quality/reported"), {"tenant": tenant}).fetchone()
    reported = Reported(*row) if row else None
    rows = connection.execute(query("quality/subjects"), parameters).fetchall()
    return [
        replace(Subject(*known), queries=dict(zip(days or (), queries or (), strict=True)), reported=reported)
        for *known, days, queries in rows
    ]


def candidates(connection: Connection[Any], page: Page, policy: QualityPolicy | None, now: datetime) -> list[str]:
    """The ids of at most AT_ONCE assets that the policy may have something to say about; of a policy that no longer
    exists, those of its open findings."""
    parameters: dict[str, Any] = {
        **page._asdict(),
        "limit": AT_ONCE,
        "private": PRIVATE,
        "asset": policy.asset_id if policy else None,
        "every": policy is not None and policy.asset_id is None,
        "types": list(policy.watched_types) if policy else [],
        "sources": list(policy.data_sources) if policy else [],
        "gone": policy is not None and policy.policy_type in CHANGE_DRIVEN,
        "used_since": None,
        "unused_since": None,
    }
    if policy is not None and (unit := RULES[policy.policy_type].unit):
        complete = Calendar.at(now, policy.delay_hours).complete
        if unit == "days":
            parameters["unused_since"] = complete - timedelta(days=policy.threshold)
        else:
            parameters["used_since"] = complete - timedelta(days=policy.days + 1)
    return [asset for (asset,) in connection.execute(query("quality/candidates"), parameters)]
