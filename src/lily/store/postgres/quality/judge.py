"""Judges assets of a tenant by its policies, and records what was found.

What a rule means is in `lily.quality`; this reads what it needs to know, for thousands of assets at once, and makes the
stored findings equal to the judgement. It runs in the caller's transaction, which must be READ COMMITTED: the tenant's
lock makes judgements follow one another, and each sees what the one before committed.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import Connection

from lily.model import ids
from lily.quality.judgement import Finding, judge
from lily.quality.subjects import Subject
from lily.store.postgres.copying import id_array
from lily.store.postgres.quality.stored import StoredPolicy, stored_policies
from lily.store.postgres.quality.subjects import AT_ONCE, Page, candidates, read_subjects
from lily.store.postgres.queries import query

_LOCK = 0x6C71  # "lq": one judgement of a tenant at a time


class Judged(NamedTuple):
    """How many findings were opened and closed."""

    opened: int = 0
    closed: int = 0

    def plus(self, other: "Judged") -> "Judged":
        return Judged(self.opened + other.opened, self.closed + other.closed)


class Judge:
    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def judge_assets(self, tenant: str, assets: Sequence[str], now: datetime) -> Judged:
        """Judges these assets by every policy."""
        # Also before it is known whether there are policies: a new one is judged after what is being counted now.
        self._lock(tenant)
        policies = stored_policies(self._connection, tenant)
        judged = Judged()
        for begin in range(0, len(assets) if policies else 0, AT_ONCE):
            judged = judged.plus(self._judge(tenant, policies, assets[begin : begin + AT_ONCE], now))
        return judged

    def judge_policy(self, tenant: str, key: str, after: str, now: datetime) -> str | None:
        """Judges the next assets of a policy after an id. Returns the id to continue after; None if that was all. A
        policy that no longer exists finds nothing, which closes its findings."""
        self._lock(tenant)
        policy = next((one for one in stored_policies(self._connection, tenant) if one.key == key), None)
        assets = candidates(self._connection, Page(tenant, key, after), policy.policy if policy else None, now)
        self._judge(tenant, [policy] if policy else [], assets, now, key)
        if len(assets) == AT_ONCE:
            return assets[-1]
        if policy is not None:
            done = {"tenant": tenant, "policy": key, "at": now, "updated_at": policy.updated_at}
            self._connection.execute(query("quality/mark_judged"), done)
        return None

    def _lock(self, tenant: str) -> None:
        self._connection.execute("select pg_advisory_xact_lock(%s, hashtext(%s))", [_LOCK, tenant])

    def _judge(
        self, tenant: str, policies: Sequence[StoredPolicy], assets: Sequence[str], now: datetime, only: str = ""
    ) -> Judged:
        subjects = read_subjects(self._connection, tenant, assets, [one.policy for one in policies], now)
        found = [
            (stored, subject, finding)
            for subject in subjects
            for stored in policies
            for finding in judge(stored.policy, subject, now)
        ]
        return self._record(tenant, found, assets, [only] if only else [one.key for one in policies])

    def _record(
        self,
        tenant: str,
        found: Sequence[tuple[StoredPolicy, Subject, Finding]],
        assets: Sequence[str],
        policies: Sequence[str],
    ) -> Judged:
        parameters = {
            "tenant": tenant,
            "judged": id_array(assets),
            "judged_by": list(policies),
            "finding_ids": id_array(ids.event_id() for _ in found),
            "policies": [stored.key for stored, _, _ in found],
            "assets": id_array(subject.asset_id for _, subject, _ in found),
            "causes": [finding.cause for _, _, finding in found],
            "types": [stored.policy.policy_type for stored, _, _ in found],
            "severities": [stored.policy.severity for stored, _, _ in found],
            "titles": [finding.title for _, _, finding in found],
            "silent": [stored.is_silent(finding) for stored, _, finding in found],
        }
        opened, closed, _ = self._connection.execute(query("quality/record"), parameters).fetchone() or (0, 0, 0)
        return Judged(opened, closed)
