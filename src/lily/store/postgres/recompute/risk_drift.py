"""Compares what is stored as at risk with a recomputation, and repairs differences.

It loads the graph of one tenant at a time into memory, and only of tenants with incidents that are not resolved.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from psycopg import Connection, IsolationLevel

from lily.lineage.risk import assets_at_risk
from lily.store.postgres.at_risk.spreading import AT_RISK, RiskMarks, TenantRisks
from lily.store.postgres.connection import connect
from lily.store.postgres.queries import query
from lily.store.postgres.recompute.committed_state import committed_state
from lily.store.postgres.tenant_lock import tenant_lock

MAX_EXAMPLES = 10


class RiskDifference(NamedTuple):
    tenant: str
    incident: str
    id: str
    problem: str  # missing, surplus


@dataclass(frozen=True, slots=True)
class RiskDrift:
    expected: int
    differences: list[RiskDifference]

    def report(self) -> dict[str, Any]:
        counts = {name: sum(one.problem == name for one in self.differences) for name in ("missing", "surplus")}
        examples = [one._asdict() for one in self.differences[:MAX_EXAMPLES]]
        return {"assets": self.expected, **counts, "examples": examples}


def find_risk_drift(database_url: str, tenant: str | None = None) -> RiskDrift:
    number, differences = 0, list[RiskDifference]()
    with committed_state(database_url) as connection:
        for (name,) in connection.execute(query("recompute/risk_tenants")).fetchall():
            if tenant in {None, name}:
                expected = _expected(connection, name)
                stored = set(connection.execute(query("recompute/at_risk"), {"tenant": name}).fetchall())
                number += len(expected)
                differences += _differences(name, "missing", expected - stored)
                differences += _differences(name, "surplus", stored - expected)
    return RiskDrift(number, differences)


def repair_risks(database_url: str, drift: RiskDrift) -> None:
    """Computes every incident with a difference again, and announces what changes. Idempotent, and safe while the
    worker runs."""
    with connect(database_url, "lily-recompute") as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        risks = TenantRisks(connection)
        for tenant in sorted({one.tenant for one in drift.differences}):
            again = {one.incident for one in drift.differences if one.tenant == tenant}
            with tenant_lock(connection, AT_RISK, tenant), connection.transaction():
                risks.spread(tenant, RiskMarks(again=again))


def _differences(tenant: str, problem: str, found: set[tuple[str, str]]) -> list[RiskDifference]:
    return [RiskDifference(tenant, incident, asset, problem) for incident, asset in sorted(found)]


def _expected(connection: Connection[Any], tenant: str) -> set[tuple[str, str]]:
    """Incident and asset."""
    parameters = {"tenant": tenant}
    downstream = _grouped(connection.execute(query("recompute/risk_edges"), parameters))
    children = _grouped(connection.execute(query("recompute/risk_children"), parameters))
    own = _grouped(connection.execute(query("recompute/risk_origins"), parameters))
    return {
        (incident, asset) for incident, assets in own.items() for asset in assets_at_risk(assets, downstream, children)
    }


def _grouped(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    grouped = dict[str, list[str]]()
    for key, value in rows:
        grouped.setdefault(key, []).append(value)
    return grouped
