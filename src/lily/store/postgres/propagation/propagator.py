"""Propagation over committed state: looks again at what was marked, and brings what is derived in line with it.

The work is the SQL function `propagate`, run for one tenant at a time. A run is idempotent: marking again what was done
already changes nothing, so a crash anywhere is repaired by marking again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import Connection, IsolationLevel

from lily.lineage.lake_nodes import LakeNode
from lily.lineage.marks import AssetMark, EdgeMark, Marks
from lily.store.postgres.attributes.rule_run import RuleRunner
from lily.store.postgres.connection import connect
from lily.store.postgres.copying import copy_lines, line
from lily.store.postgres.propagation.suppressions import Suppressions
from lily.store.postgres.queries import query
from lily.store.postgres.tenant_lock import tenant_lock

ATTEMPTS = 5
PROPAGATION = "propagation"  # names the reaction, and the lock that lets one run per tenant at a time
PROGRESS = f"@{PROPAGATION}"  # after the name of a topic, in `applied`: how far propagation has read it


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many assets gained or lost a derived tag, how far away the farthest was, and how much rules had to state."""

    reached: int = 0
    depth: int = 0
    stated: int = 0


class Propagator:
    """Propagation on a connection of its own, for callers outside the reaction: the lake query and repairs.

    A failure rolls the tenant's run back; mark again and repeat it.
    """

    def __init__(self, database_url: str) -> None:
        self._connection = connect(database_url, "lily-propagator")
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ  # a run sees one committed state
        self._propagation = TenantPropagation(self._connection)

    def close(self) -> None:
        self._connection.close()

    def awaiting_lake(self, limit: int) -> list[tuple[str, str]]:
        """Tenant and id of ends of edges that the lake alone may know."""
        return self._connection.execute(query("graph/awaiting_lake"), [limit]).fetchall()

    def set_parents(self, known: Mapping[tuple[str, str], LakeNode]) -> int:
        """Records what the lake knows of ends of edges, by tenant and id, and propagates; returns how many moved or
        became known."""
        rows = {
            "tenants": [tenant for tenant, _ in known],
            "ids": [asset_id for _, asset_id in known],
            "parents": [node.parent for node in known.values()],
            "qualified_names": [node.qualified_name for node in known.values()],
            "names": [node.name for node in known.values()],
            "types": [node.entity_type for node in known.values()],
            "deleted": [node.is_deleted for node in known.values()],
        }
        moved: dict[str, Marks] = {}
        for tenant, asset_id in self._connection.execute(query("graph/update_lake_nodes"), rows).fetchall():
            moved.setdefault(tenant, Marks()).assets.append(AssetMark(asset_id))
        for tenant, marks in moved.items():
            self.propagate(tenant, marks)
        return sum(len(marks.assets) for marks in moved.values())

    def propagate(self, tenant: str, marks: Marks) -> Outcome:
        """Brings what is derived in the tenant in line with what is committed now, around the marks."""
        with tenant_lock(self._connection, PROPAGATION, tenant):
            # The lake sets parents of nodes without the lock: the run that comes second starts again.
            for _ in range(ATTEMPTS - 1):
                try:
                    return self._run(tenant, marks)
                except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
                    continue
            return self._run(tenant, marks)

    def _run(self, tenant: str, marks: Marks) -> Outcome:
        with self._connection.transaction():
            return self._propagation.run(tenant, marks)


class TenantPropagation:
    """Runs in the caller's transaction, which must be REPEATABLE READ and hold the tenant's lock since before it began.
    Raises what the connection raises."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._connection.execute("set work_mem = '64MB'; set temp_buffers = '64MB'")
        self._connection.execute(query("propagation/stage"))
        self._suppressions = Suppressions(self._connection)
        self._rules = RuleRunner(self._connection)

    def rule_attributes(self, tenant: str) -> frozenset[str]:
        """The attributes that rules of the tenant name now."""
        rows = self._connection.execute(query("propagation/rule_attributes"), {"tenant": tenant}).fetchall()
        return frozenset(attribute for (attribute,) in rows)

    def run(self, tenant: str, marks: Marks) -> Outcome:
        started = datetime.now(UTC)
        self._mark(tenant, marks)
        self._connection.execute("select propagate(%s)", [tenant])
        rows = self._connection.execute(query("propagation/publish"), {"tenant": tenant}).fetchall()
        found = {root: Outcome(reached, depth) for root, reached, depth, _ in rows}
        news = self._suppressions.new_origins(tenant)
        stated = self._rules.follow(tenant, marks)
        if found or news or stated:
            batch = rows[0][-1] if rows else self._open_batch()
            self._connection.execute("select pg_notify('lily_applied', '')")
            self._suppressions.publish(tenant, batch, news)
            self._rules.publish(tenant, batch)
            self._record_receipts(tenant, marks, found, started)
        return Outcome(
            sum(outcome.reached for outcome in found.values()),
            max((outcome.depth for outcome in found.values()), default=0),
            stated,
        )

    def _mark(self, tenant: str, marks: Marks) -> None:
        assets = {mark.asset_id for mark in marks.assets if mark.tags}
        copy_lines(self._connection, "marked (id, root)", [line(asset, asset) for asset in assets])
        edges = {(mark.from_id, mark.to_id) for mark in marks.edges}
        copy_lines(
            self._connection, "marked_edges (from_id, to_id, root)", [line(start, end, end) for start, end in edges]
        )
        for tag in sorted(marks.tags):
            about = {"tenant": tenant, "tag": tag}
            self._connection.execute(query("propagation/forget_tag"), about)
            self._connection.execute(query("propagation/mark_tag"), about)
        if marks.deletion:
            self._connection.execute(query("propagation/mark_deleted"), {"tenant": tenant})

    def _open_batch(self) -> int:
        row = self._connection.execute("insert into batches default values returning id").fetchone()
        assert row is not None  # noqa: S101 - INSERT … RETURNING of one row returns one row
        return int(row[0])

    def _record_receipts(self, tenant: str, marks: Marks, found: Mapping[str, Outcome], started: datetime) -> None:
        causes: list[tuple[str, AssetMark | EdgeMark]] = [(mark.asset_id, mark) for mark in marks.assets]
        causes += [(end, mark) for mark in marks.edges for end in (mark.from_id, mark.to_id)]
        told = {mark.position: (root, mark) for root, mark in causes if mark.position and root in found}
        outcomes = [found[root] for root, _ in told.values()]
        asked = {
            "tenant": tenant,
            "started": started,
            "positions": list(told),
            "roots": [root for root, _ in told.values()],
            "correlations": [mark.correlation for _, mark in told.values()],
            "reached": [outcome.reached for outcome in outcomes],
            "depths": [outcome.depth for outcome in outcomes],
        }
        self._connection.execute(query("propagation/receipts"), asked)
