"""Propagates tags and attributes: recomputes what is derived around the marks, from committed state.

The SQL function `propagate` does the work for tags, one tenant per run. A run is idempotent: marking again what was
handled already changes nothing, so after a crash it is enough to mark again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import Connection, IsolationLevel

from lily.lineage.lake_nodes import LakeNode
from lily.lineage.marks import AssetMark, EdgeMark, Marks
from lily.store.postgres.at_risk.spreading import AT_RISK, RiskMarks, TenantRisks
from lily.store.postgres.attributes.rule_run import RuleRunner
from lily.store.postgres.connection import connect
from lily.store.postgres.copying import copy_lines, line
from lily.store.postgres.propagation.new_origins import NewOrigins
from lily.store.postgres.queries import query
from lily.store.postgres.tenant_lock import tenant_lock

ATTEMPTS = 5
PROPAGATION = "propagation"  # the name of the reaction, and of the lock that allows one run per tenant at a time


@dataclass(frozen=True, slots=True)
class PropagationResult:
    reached: int = 0  # assets that gained or lost a derived tag
    depth: int = 0  # of the farthest of them
    stated: int = 0  # statements that attribute rules made


class Propagator:
    """Propagation on a connection of its own, for callers outside the reaction: the lake query and repairs.

    A failure rolls back the tenant's run; the caller can repeat it with the same marks.
    """

    def __init__(self, database_url: str) -> None:
        self._connection = connect(database_url, "lily-propagator")
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ  # a run sees one committed state
        self._propagation = TenantPropagation(self._connection)
        self._risks = TenantRisks(self._connection)

    def close(self) -> None:
        self._connection.close()

    def awaiting_lake(self, limit: int) -> list[tuple[str, str]]:
        """Tenant and id of graph nodes that have to be looked up in the lake."""
        return self._connection.execute(query("graph/awaiting_lake"), [limit]).fetchall()

    def set_parents(self, nodes: Mapping[tuple[str, str], LakeNode]) -> int:
        """Stores what the lake has of nodes, by tenant and id, and propagates tags and risks. Returns how many have
        another parent or were unknown before."""
        rows = {
            "tenants": [tenant for tenant, _ in nodes],
            "ids": [asset_id for _, asset_id in nodes],
            "parents": [node.parent for node in nodes.values()],
            "qualified_names": [node.qualified_name for node in nodes.values()],
            "names": [node.name for node in nodes.values()],
            "types": [node.entity_type for node in nodes.values()],
            "deleted": [node.is_deleted for node in nodes.values()],
        }
        moved: dict[str, Marks] = {}
        for tenant, asset_id in self._connection.execute(query("graph/update_lake_nodes"), rows).fetchall():
            moved.setdefault(tenant, Marks()).assets.append(AssetMark(asset_id, placed=True))
        for tenant, marks in moved.items():
            self.propagate(tenant, marks)
            self._spread_risks(tenant, {mark.asset_id for mark in marks.assets})
        return sum(len(marks.assets) for marks in moved.values())

    def propagate(self, tenant: str, marks: Marks) -> PropagationResult:
        """Updates what is derived in the tenant, around the marks, from what is committed now."""
        with tenant_lock(self._connection, PROPAGATION, tenant):
            # The lake query sets parents without this lock. A run that conflicts with it starts again.
            for _ in range(ATTEMPTS - 1):
                try:
                    return self._run(tenant, marks)
                except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
                    continue
            return self._run(tenant, marks)

    def _run(self, tenant: str, marks: Marks) -> PropagationResult:
        with self._connection.transaction():
            return self._propagation.run(tenant, marks)

    def _spread_risks(self, tenant: str, moved: set[str]) -> None:
        """No event names a parent that comes from the lake, so the at-risk reaction does not learn of it."""
        if self._risks.concerns(tenant):
            with tenant_lock(self._connection, AT_RISK, tenant), self._connection.transaction():
                self._risks.spread(tenant, RiskMarks(moved=moved))


class TenantPropagation:
    """Runs in the caller's transaction, which must be REPEATABLE READ. The caller takes the tenant's lock before the
    transaction begins. Raises what the connection raises."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._connection.execute("set work_mem = '64MB'; set temp_buffers = '64MB'")
        self._connection.execute(query("propagation/stage"))
        self._new_origins = NewOrigins(self._connection)
        self._rules = RuleRunner(self._connection)

    def rule_attributes(self, tenant: str) -> frozenset[str]:
        """The attributes that the tenant's rules name now."""
        rows = self._connection.execute(query("propagation/rule_attributes"), {"tenant": tenant}).fetchall()
        return frozenset(attribute for (attribute,) in rows)

    def run(self, tenant: str, marks: Marks) -> PropagationResult:
        started = datetime.now(UTC)
        self._mark(tenant, marks)
        self._connection.execute("select propagate(%s)", [tenant])
        rows = self._connection.execute(query("propagation/publish"), {"tenant": tenant}).fetchall()
        by_root = {root: PropagationResult(reached, depth) for root, reached, depth, _ in rows}
        new_origins = self._new_origins.detect(tenant)
        stated = self._rules.apply(tenant, marks)
        if by_root or new_origins or stated:
            batch = rows[0][-1] if rows else self._open_batch()
            self._connection.execute("select pg_notify('lily_applied', '')")
            self._new_origins.publish(tenant, batch, new_origins)
            self._rules.publish(tenant, batch)
            self._record_receipts(tenant, marks, by_root, started)
        return PropagationResult(
            sum(result.reached for result in by_root.values()),
            max((result.depth for result in by_root.values()), default=0),
            stated,
        )

    def _mark(self, tenant: str, marks: Marks) -> None:
        assets = {mark.asset_id: False for mark in marks.assets if mark.tags and mark.placed}
        assets |= {mark.asset_id: True for mark in marks.assets if mark.tags and not mark.placed}
        lines = [line(asset, asset, str(whole)) for asset, whole in assets.items()]
        copy_lines(self._connection, "marked (id, root, whole)", lines)
        edges = {(mark.from_id, mark.to_id) for mark in marks.edges}
        copy_lines(
            self._connection, "marked_edges (from_id, to_id, root)", [line(start, end, end) for start, end in edges]
        )
        for tag in sorted(marks.tags):
            parameters = {"tenant": tenant, "tag": tag}
            self._connection.execute(query("propagation/delete_undefined_tag"), parameters)
            self._connection.execute(query("propagation/mark_tag"), parameters)
        if marks.deletion:
            self._connection.execute(query("propagation/mark_deleted"), {"tenant": tenant})

    def _open_batch(self) -> int:
        row = self._connection.execute("insert into batches default values returning id").fetchone()
        assert row is not None  # noqa: S101 - INSERT … RETURNING of one row returns one row
        return int(row[0])

    def _record_receipts(
        self, tenant: str, marks: Marks, by_root: Mapping[str, PropagationResult], started: datetime
    ) -> None:
        """Records, for each change that a mark comes from, what it reached."""
        causes: list[tuple[str, AssetMark | EdgeMark]] = [(mark.asset_id, mark) for mark in marks.assets]
        causes += [(end, mark) for mark in marks.edges for end in (mark.from_id, mark.to_id)]
        changes = {mark.position: (root, mark) for root, mark in causes if mark.position and root in by_root}
        results = [by_root[root] for root, _ in changes.values()]
        values = {
            "tenant": tenant,
            "started": started,
            "positions": list(changes),
            "roots": [root for root, _ in changes.values()],
            "correlations": [mark.correlation for _, mark in changes.values()],
            "reached": [result.reached for result in results],
            "depths": [result.depth for result in results],
        }
        self._connection.execute(query("propagation/upsert_receipts"), values)
