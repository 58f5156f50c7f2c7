"""Propagation over committed state: what was marked is looked at again, and what is derived follows.

The work is the SQL function `propagate`; this sets it to work for one tenant at a time. A run is repeatable: marking
again what was done already changes nothing, so a crash anywhere is mended by marking again.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import psycopg
from psycopg import IsolationLevel

from lily.store.postgres.attributes.rule_run import RuleRunner
from lily.store.postgres.connection import connect
from lily.store.postgres.graph.lake_nodes import Known
from lily.store.postgres.propagation.marks import AssetMark, EdgeMark, Marks
from lily.store.postgres.propagation.suppressions import Suppressions
from lily.store.postgres.queries import query

ATTEMPTS = 5
_LOCK = 0x6C70  # "lp": one run a tenant at a time
PROGRESS = "@propagation"  # after the name of a topic, in `applied`: how far it was read for propagation


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many assets gained or lost a derived tag, how far away the farthest was, and how much rules had to state."""

    reached: int = 0
    depth: int = 0
    stated: int = 0


class Propagator:
    """One connection of the pipeline's role. A failure rolls the tenant's run back; mark again and repeat it."""

    def __init__(self, database_url: str) -> None:
        self._connection = connect(database_url, "lily-propagation")
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ  # a run sees one committed state
        self._connection.execute("set work_mem = '64MB'; set temp_buffers = '64MB'")
        self._connection.execute(query("propagation/stage"))
        self._suppressions = Suppressions(self._connection)
        self._rules = RuleRunner(self._connection)

    def close(self) -> None:
        self._connection.close()

    def positions(self, topic: str) -> dict[int, int]:
        """The next offset to read, for every partition that was ever read."""
        asked = "select partition, next_offset from applied where topic = %s"
        return dict(self._connection.execute(asked, [topic + PROGRESS]).fetchall())

    def advance(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Everything below these offsets of the change log has been propagated."""
        rows = [(topic + PROGRESS, partition, offset) for (topic, partition), offset in offsets.items()]
        with self._connection.transaction():
            self._connection.cursor().executemany(query("progress/advance"), rows)
            self._connection.execute("select pg_notify('lily_applied', '')")

    def awaiting_lake(self, limit: int) -> list[tuple[str, str]]:
        """Tenant and id of ends of edges that the lake alone may know."""
        return self._connection.execute(query("graph/nodes_awaiting_lake"), [limit]).fetchall()

    def rule_attributes(self) -> dict[str, frozenset[str]]:
        """By tenant, the attributes that rules name now."""
        rows = self._connection.execute(query("propagation/rule_attributes")).fetchall()
        return {tenant: frozenset(attributes) for tenant, attributes in rows}

    def place(self, told: Mapping[tuple[str, str], Known]) -> int:
        """Notes what the lake tells of ends of edges, by tenant and id, and lets tags and attributes follow; answers
        how many moved or became known."""
        asked = {
            "tenants": [tenant for tenant, _ in told],
            "ids": [asset_id for _, asset_id in told],
            "parents": [known.parent for known in told.values()],
            "qualified_names": [known.qualified_name for known in told.values()],
            "names": [known.name for known in told.values()],
            "types": [known.entity_type for known in told.values()],
            "deleted": [known.is_deleted for known in told.values()],
        }
        moved: dict[str, Marks] = {}
        for tenant, asset_id in self._connection.execute(query("graph/nodes_settle"), asked).fetchall():
            moved.setdefault(tenant, Marks()).assets.append(AssetMark(asset_id))
        for tenant, marks in moved.items():
            self.propagate(tenant, marks)
        return sum(len(marks.assets) for marks in moved.values())

    def propagate(self, tenant: str, marks: Marks) -> Outcome:
        """Brings what is derived in the tenant in line with what is committed now, around the marks."""
        key = zlib.crc32(tenant.encode()) - (1 << 31)
        # Taken before the transaction begins, so that its snapshot is newer than the last run's commit.
        self._connection.execute("select pg_advisory_lock(%s, %s)", [_LOCK, key])
        try:
            return self._repeated(tenant, marks)
        finally:
            if not self._connection.broken:
                self._connection.execute("select pg_advisory_unlock(%s, %s)", [_LOCK, key])

    def _repeated(self, tenant: str, marks: Marks) -> Outcome:
        """The lake places nodes of the graph without the lock: who comes second begins anew."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self._run(tenant, marks)
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
                continue
        return self._run(tenant, marks)

    def _run(self, tenant: str, marks: Marks) -> Outcome:
        started = datetime.now(UTC)
        with self._connection.transaction():
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
                self._note(tenant, marks, found, started)
        return Outcome(
            sum(outcome.reached for outcome in found.values()),
            max((outcome.depth for outcome in found.values()), default=0),
            stated,
        )

    def _mark(self, tenant: str, marks: Marks) -> None:
        assets = {mark.asset_id for mark in marks.assets if mark.tags}
        self._fill("marked (id, root)", ((asset, asset) for asset in assets))
        edges = {(mark.from_id, mark.to_id) for mark in marks.edges}
        self._fill("marked_edges (from_id, to_id, root)", ((start, end, end) for start, end in edges))
        for tag in sorted(marks.tags):
            about = {"tenant": tenant, "tag": tag}
            self._connection.execute(query("propagation/forget_tag"), about)
            self._connection.execute(query("propagation/mark_tag"), about)
        if marks.deletion:
            self._connection.execute(query("propagation/mark_deleted"), {"tenant": tenant})

    def _fill(self, table: str, rows: Iterable[tuple[str, ...]]) -> None:
        text = "".join("\t".join(row) + "\n" for row in rows)
        if text:
            with self._connection.cursor().copy(f"copy {table} from stdin".encode()) as copy:
                copy.write(text)

    def _open_batch(self) -> int:
        row = self._connection.execute("insert into batches default values returning id").fetchone()
        assert row is not None  # noqa: S101 - INSERT … RETURNING of one row returns one row
        return int(row[0])

    def _note(self, tenant: str, marks: Marks, found: Mapping[str, Outcome], started: datetime) -> None:
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
