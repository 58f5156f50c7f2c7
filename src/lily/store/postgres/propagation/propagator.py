"""Propagates tags and attributes: recomputes what is derived around the marks, from committed state.

The SQL function `propagate` does the work for tags, one tenant per run. A run is idempotent: marking again what was
handled already changes nothing, so after a crash it is enough to mark again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import psycopg
import structlog
from psycopg import Connection, IsolationLevel

from lily.lineage.lake_nodes import LakeNode
from lily.lineage.marks import AssetMark, EdgeMark, Marks
from lily.model.errors import Transient
from lily.store.postgres.at_risk.spreading import AT_RISK, RiskMarks, TenantRisks
from lily.store.postgres.attributes.rule_run import RuleRunner
from lily.store.postgres.connection import connect
from lily.store.postgres.copying import copy_lines, id_array, line, text_array
from lily.store.postgres.propagation.new_origins import NewOrigins
from lily.store.postgres.propagation.tenant_pauses import TenantPauses
from lily.store.postgres.queries import query
from lily.store.postgres.tenant_lock import tenant_lock

ATTEMPTS = 5
LOCK_TIMEOUT = "10s"
PAGE = 20_000  # derived tags, about, that a run stores or retracts in one transaction
PROPAGATION = "propagation"  # the name of the reaction, and of the lock that allows one run per tenant at a time
# Nodes are looked up by their ids, whatever the statistics say: of a tenant that is new they know nothing, and then
# whole tables are read for a few nodes.
_BY_ID = "set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off"
_log = structlog.get_logger()
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class PropagationResult:
    reached: int = 0  # assets that gained or lost a derived tag
    depth: int = 0  # of the farthest of them
    stated: int = 0  # statements that attribute rules made
    finished: bool = True  # False: the run goes on with the same marks, in another transaction

    def with_page(self, page: "PropagationResult") -> "PropagationResult":
        """This run so far, with its next page."""
        return PropagationResult(
            self.reached + page.reached, max(self.depth, page.depth), self.stated + page.stated, page.finished
        )


class Propagator:
    """Propagation on a connection of its own, for callers outside the reaction: the lake query and repairs.

    A failure rolls back the tenant's run; the caller can repeat it with the same marks.
    """

    def __init__(self, database_url: str, page: int = PAGE) -> None:
        self._page_size = page
        self._connection = connect(database_url, "lily-propagator")
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ  # a run sees one committed state
        self._propagation = TenantPropagation(self._connection)
        self._risks = TenantRisks(self._connection)
        self._pauses = TenantPauses()

    def close(self) -> None:
        self._connection.close()

    def awaiting_lake(self, limit: int) -> list[tuple[str, str]]:
        """Tenant and id of graph nodes that have to be looked up in the lake. Nodes of tenants whose run failed a short
        time ago are left out."""
        parameters = {"limit": limit, "paused": self._pauses.paused()}
        return self._connection.execute(query("graph/awaiting_lake"), parameters).fetchall()

    def set_parents(self, nodes: Mapping[tuple[str, str], LakeNode]) -> int:
        """Stores what the lake has of nodes, by tenant and id, and propagates tags and risks. Returns how many have
        another parent or were unknown before. A tenant whose run fails is left as it was and tried again later; the
        others go on. Raises if the connection is lost."""
        tenants: dict[str, dict[str, LakeNode]] = {}
        for (tenant, asset_id), node in nodes.items():
            tenants.setdefault(tenant, {})[asset_id] = node
        moved = 0
        for tenant, found in tenants.items():
            try:
                moved += self._repeated(partial(self._set_parents, tenant, found))
                self._pauses.succeeded(tenant)
            except psycopg.Error as error:
                if self._connection.broken or self._connection.closed:
                    raise
                seconds, cause = self._pauses.failed(tenant), str(error)[:500]
                _log.warning("tenant's columns wait for their parents", tenant=tenant, seconds=seconds, error=cause)
        return moved

    def _set_parents(self, tenant: str, nodes: Mapping[str, LakeNode]) -> int:
        """In one transaction: nodes that are stored are not looked up again, so nothing would mark them a second time.
        No event names a parent that comes from the lake, so the reaction for risks does not learn of it either."""
        with (
            self._limited_waits(),
            tenant_lock(self._connection, PROPAGATION, tenant),
            tenant_lock(self._connection, AT_RISK, tenant),
            self._connection.transaction(),
        ):
            self._connection.execute(_BY_ID)
            held = self._connection.execute(query("graph/update_held_parents"), _held_columns(tenant, nodes)).fetchall()
            placed = self._connection.execute(query("graph/update_lake_nodes"), _columns(tenant, nodes)).fetchall()
            below_others = {asset_id for _, asset_id in held}
            moved = below_others.union(asset_id for asset_id, _, _ in placed)
            if marked := below_others.union(self._beside_tags(tenant, placed)):
                marks = [AssetMark(asset_id, placed=True) for asset_id in sorted(marked)]
                self._propagation.run(tenant, Marks(assets=marks))
            if moved and self._risks.concerns(tenant):
                self._risks.spread(tenant, RiskMarks(moved=moved))
        return len(moved)

    def _beside_tags(self, tenant: str, placed: Sequence[tuple[str, str | None, bool]]) -> Iterable[str]:
        """Those nodes of which something may change by their new parent. A run looks each node up many times, and
        nearly all columns of a new table have no tag near them."""
        if not placed or self._propagation.rule_attributes(tenant):
            return (asset_id for asset_id, _, _ in placed)
        parameters = {
            "tenant": tenant,
            "ids": id_array(asset_id for asset_id, _, _ in placed),
            "parents": text_array(parent for _, parent, _ in placed),
            "known": id_array(str(known) for _, _, known in placed),
        }
        rows = self._connection.execute(query("propagation/placed_beside_tags"), parameters).fetchall()
        return (asset_id for (asset_id,) in rows)

    @contextmanager
    def _limited_waits(self) -> Iterator[None]:
        """The lake must not wait for a long run of one tenant in a worker."""
        self._connection.execute("select set_config('lock_timeout', %s, false)", [LOCK_TIMEOUT])
        try:
            yield
        finally:
            if not self._connection.broken:
                self._connection.execute("reset lock_timeout")

    def propagate(self, tenant: str, marks: Marks) -> PropagationResult:
        """Updates what is derived in the tenant, around the marks, from what is committed now."""
        with tenant_lock(self._connection, PROPAGATION, tenant):
            result = PropagationResult(finished=False)
            while not result.finished:
                result = result.with_page(self._repeated(partial(self._page, tenant, marks)))
            return result

    def _page(self, tenant: str, marks: Marks) -> PropagationResult:
        with self._connection.transaction():
            return self._propagation.run(tenant, marks, self._page_size)

    @staticmethod
    def _repeated(work: Callable[[], Result]) -> Result:
        """A run that conflicts with a concurrent change of what it read starts again."""
        for _ in range(ATTEMPTS - 1):
            try:
                return work()
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
                continue
        return work()


def _columns(tenant: str, nodes: Mapping[str, LakeNode]) -> dict[str, Any]:
    return {
        "tenants": id_array([tenant] * len(nodes)),
        "ids": id_array(nodes),
        "parents": text_array(node.parent for node in nodes.values()),
        "qualified_names": text_array(node.qualified_name for node in nodes.values()),
        "names": text_array(node.name for node in nodes.values()),
        "types": text_array(node.entity_type for node in nodes.values()),
        "deleted": id_array(str(node.is_deleted) for node in nodes.values()),
    }


def _held_columns(tenant: str, nodes: Mapping[str, LakeNode]) -> dict[str, Any]:
    held = [(asset_id, parent) for asset_id, node in nodes.items() for parent in sorted(node.held_parents)]
    return {
        "tenants": id_array([tenant] * len(nodes)),
        "ids": id_array(nodes),
        "held_tenants": id_array([tenant] * len(held)),
        "held_ids": id_array(asset_id for asset_id, _ in held),
        "held_parents": id_array(parent for _, parent in held),
    }


class TenantPropagation:
    """Runs in the caller's transaction, which must be REPEATABLE READ. The caller takes the tenant's lock before the
    transaction begins. Raises what the connection raises."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._connection.execute("set work_mem = '64MB'; set temp_buffers = '64MB'")
        # As in `CatalogueWriter`: the size of tables counts as it is, not as it was when a statement was first planned.
        self._connection.execute("set plan_cache_mode = force_custom_plan")
        self._connection.execute(query("propagation/stage"))
        self._new_origins = NewOrigins(self._connection)
        self._rules = RuleRunner(self._connection)

    def rule_attributes(self, tenant: str) -> frozenset[str]:
        """The attributes that the tenant's rules name now."""
        rows = self._connection.execute(query("propagation/rule_attributes"), {"tenant": tenant}).fetchall()
        return frozenset(attribute for (attribute,) in rows)

    def run(self, tenant: str, marks: Marks, most: int | None = None) -> PropagationResult:
        """Does about `most` of what there is to do, or all of it. If the result says that the run is not finished,
        commit and call again with the same marks. What an earlier run left unfinished is done as well."""
        # Of an earlier run in the same transaction.
        self._connection.execute(
            "delete from touched; delete from marked; delete from marked_edges; delete from concerned"
        )
        row = self._connection.execute(query("propagation/unfinished_run"), [tenant]).fetchone()
        if row is None or row[0] != marks.digest:
            self._mark(tenant, marks)
        elif not row[1]:
            self._mark_changes(marks)
        try:
            finished, began = self._propagate(tenant, most)
        except psycopg.DatabaseError as error:
            if row is None or most is None or isinstance(error, psycopg.OperationalError):
                raise
            # Not an event of this call is the cause, so none must be given up.
            raise Transient(f"The unfinished run failed: {str(error).splitlines()[0]}") from error
        if not finished:
            self._connection.execute(query("propagation/leave_unfinished"), [marks.digest, tenant])
        paged = row is not None or not finished
        about = {"tenant": tenant, "began": began, "paged": paged}
        rows = self._connection.execute(query("propagation/publish"), about).fetchall()
        by_root = {root: PropagationResult(reached, depth) for root, reached, depth, _ in rows}
        new_origins = self._new_origins.detect(tenant) if finished else []
        stated = self._rules.apply(tenant, marks) if finished else 0
        if by_root or new_origins or stated:
            batch = rows[0][-1] if rows else self._open_batch()
            self._connection.execute("select pg_notify('lily_applied', '')")
            self._new_origins.publish(tenant, batch, new_origins)
            if finished:
                self._rules.publish(tenant, batch)
            self._record_receipts(tenant, marks, by_root, began, paged=row is not None)
        return PropagationResult(
            sum(result.reached for result in by_root.values()),
            max((result.depth for result in by_root.values()), default=0),
            stated,
            finished,
        )

    def _propagate(self, tenant: str, most: int | None) -> tuple[bool, datetime]:
        row = self._connection.execute("select finished, began from propagate(%s, %s)", [tenant, most]).fetchone()
        assert row is not None  # noqa: S101 - a function with two results returns one row
        return row[0], row[1]

    def _mark(self, tenant: str, marks: Marks) -> None:
        self._mark_changes(marks)
        for tag in sorted(marks.tags):
            parameters = {"tenant": tenant, "tag": tag}
            self._connection.execute(query("propagation/delete_undefined_tag"), parameters)
            self._connection.execute(query("propagation/mark_tag"), parameters)
        if marks.deletion:
            self._connection.execute(query("propagation/mark_deleted"), {"tenant": tenant})

    def _mark_changes(self, marks: Marks) -> None:
        assets = {mark.asset_id: False for mark in marks.assets if mark.tags and mark.placed}
        assets |= {mark.asset_id: True for mark in marks.assets if mark.tags and not mark.placed}
        lines = [line(asset, asset, str(whole)) for asset, whole in assets.items()]
        copy_lines(self._connection, "marked (id, root, whole)", lines)
        edges = {(mark.from_id, mark.to_id) for mark in marks.edges}
        copy_lines(
            self._connection, "marked_edges (from_id, to_id, root)", [line(start, end, end) for start, end in edges]
        )

    def _open_batch(self) -> int:
        row = self._connection.execute("insert into batches default values returning id").fetchone()
        assert row is not None  # noqa: S101 - INSERT … RETURNING of one row returns one row
        return int(row[0])

    def _record_receipts(
        self, tenant: str, marks: Marks, by_root: Mapping[str, PropagationResult], started: datetime, *, paged: bool
    ) -> None:
        """Records, for each change that a mark comes from, what it reached."""
        causes: list[tuple[str, AssetMark | EdgeMark]] = [(mark.asset_id, mark) for mark in marks.assets]
        causes += [(end, mark) for mark in marks.edges for end in (mark.from_id, mark.to_id)]
        changes = {mark.position: (root, mark) for root, mark in causes if mark.position and root in by_root}
        results = [by_root[root] for root, _ in changes.values()]
        values = {
            "tenant": tenant,
            "started": started,
            "paged": paged,
            "positions": list(changes),
            "roots": [root for root, _ in changes.values()],
            "correlations": [mark.correlation for _, mark in changes.values()],
            "reached": [result.reached for result in results],
            "depths": [result.depth for result in results],
        }
        self._connection.execute(query("propagation/upsert_receipts"), values)
