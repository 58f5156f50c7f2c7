"""Applies a batch of the log to the catalogue: merge, change log, dead letters and position in one transaction."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg.types.json import Jsonb

from lily.model.assets import LAYERS
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.errors import Problem
from lily.model.events import AssetEvent
from lily.model.records import Record, Refusal
from lily.model.states import AssetState, merge_states
from lily.store.postgres.catalogue.aggregation import StagedLayer, aggregate, layers_of
from lily.store.postgres.connection import connect
from lily.store.postgres.copying import id_array
from lily.store.postgres.edges.claims import ClaimKeeper
from lily.store.postgres.edges.merge import EdgeMerger
from lily.store.postgres.graph.lake_nodes import Known, adds_nothing
from lily.store.postgres.layer_merge import LayerMerge
from lily.store.postgres.protection.asset_guard import Guard
from lily.store.postgres.protection.conducting_edges import named
from lily.store.postgres.protection.edge_guard import EdgeGuard
from lily.store.postgres.queries import layer_query, query

Extent = tuple[str, int, int, int]  # topic, partition, first offset, next offset
Event = TypeVar("Event", AssetEvent, EdgeEvent, ClaimsEvent)


@dataclass(frozen=True, slots=True)
class Applied:
    merged: int
    changed: int
    refused: int
    kept: int = 0  # edges that a job's run dropped and that protect: see lily.store.postgres.claims


class HotStore:
    """One connection of the pipeline's role. Every method leaves it ready for the next batch, or raises.

    A failure rolls the whole batch back, its position included, so the caller may simply apply the batch again.
    """

    def __init__(self, database_url: str) -> None:
        self._connection = connect(database_url, "lily-pipeline")
        # Staged rows are always few beside the assets, but PostgreSQL has no statistics of a temporary table:
        # without these it may choose to read the whole catalogue for each batch.
        self._connection.execute("set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off")
        # A batch of the default size is staged and sorted in memory.
        self._connection.execute("set work_mem = '64MB'; set temp_buffers = '64MB'")
        self._connection.execute(query("catalogue/stage"))
        self._layers = LayerMerge(
            self._connection, "catalogue", "staged", ("tenant_id", "id", "entity_type"), layer_query
        )
        self._edges, self._claims = EdgeMerger(self._connection), ClaimKeeper(self._connection)
        self._guard, self._edge_guard = Guard(), EdgeGuard(self._connection)
        self._tenants: set[str] = set()

    def close(self) -> None:
        self._connection.close()

    def positions(self, topic: str) -> dict[int, int]:
        """The next offset to apply, for every partition that was ever applied."""
        rows = self._connection.execute("select partition, next_offset from applied where topic = %s", [topic])
        return dict(rows.fetchall())

    def knows_tenant(self, tenant: str) -> bool:
        if tenant not in self._tenants:
            self._tenants = {name for (name,) in self._connection.execute("select id from tenants")}
        return tenant in self._tenants

    def apply(
        self,
        topic: str,
        next_offsets: dict[int, int],
        events: Sequence[tuple[Record, AssetEvent | EdgeEvent | ClaimsEvent]],
        refusals: Sequence[Refusal],
    ) -> Applied:
        with self._connection.transaction():
            batch = self._open_batch(_extent(events, refusals)) if events or refusals else 0
            counts, refused_late = self._merge_all(batch, events)
            self._dead_letter(batch, [*refusals, *refused_late])
            self._connection.cursor().executemany(
                query("progress/advance"), [(topic, partition, offset) for partition, offset in next_offsets.items()]
            )
            self._connection.execute("select pg_notify('lily_applied', '')")
        return Applied(counts["merged"], counts["changed"], len(refusals) + len(refused_late), counts["kept"])

    def refresh(self, events: Sequence[tuple[Record, AssetEvent]], refusals: Sequence[Refusal]) -> Applied:
        """Merges those events whose asset is in PostgreSQL; the others are only in the lake. Idempotent."""
        with self._connection.transaction():
            here = self._present({(event.tenant, event.asset_id) for _, event in events})
            concerned = [pair for pair in events if (pair[1].tenant, pair[1].asset_id) in here]
            self._await_lake([event for _, event in events if (event.tenant, event.asset_id) not in here])
            batch = self._open_batch() if concerned or refusals else 0
            counts, refused_late = self._merge_lawful(batch, concerned)
            self._dead_letter(batch, [*refusals, *refused_late])
        return Applied(counts["merged"], counts["changed"], len(refusals) + len(refused_late))

    def awaiting_lake(self, limit: int) -> list[tuple[str, str]]:
        """Tenant and id of assets that may have a state in the lake which has not been promoted yet."""
        return self._connection.execute(query("catalogue/awaiting_lake"), [limit]).fetchall()

    def promote(self, states: Sequence[AssetState], settled: Sequence[tuple[str, str]]) -> int:
        """Merges states from the lake, and marks the settled assets as complete.

        A state that PostgreSQL cannot store stays in the lake only: its events were refused here as well.
        """
        rows = [row for state in states for row in layers_of(state)]
        with self._connection.transaction():
            changed = self._promote(self._open_batch(), rows) if rows else 0
            self._connection.execute(query("catalogue/settle"), _columns(settled))
        return changed

    def _promote(self, batch: int, rows: list[StagedLayer]) -> int:
        try:
            with self._connection.transaction():
                return self._merge(batch, rows)["changed"]
        except (psycopg.DataError, psycopg.errors.ProgramLimitExceeded):
            if len(rows) == 1:
                return 0
        middle = len(rows) // 2
        return self._promote(batch, rows[:middle]) + self._promote(batch, rows[middle:])

    def _present(self, assets: set[tuple[str, str]]) -> set[tuple[str, str]]:
        return (
            set(self._connection.execute(query("catalogue/present"), _columns(list(assets))).fetchall())
            if assets
            else set()
        )

    def _await_lake(self, events: Sequence[AssetEvent]) -> None:
        """The lake is about to hold something about these. Where one is in the graph, and that is news, it is asked."""
        assets = list({(event.tenant, event.asset_id) for event in events})
        rows = self._connection.execute(query("graph/nodes_known"), _columns(assets)).fetchall() if assets else []
        nodes = {(tenant, asset_id): Known(*known) for tenant, asset_id, *known in rows}
        pieces = merge_states(AssetState.of(event) for event in events if (event.tenant, event.asset_id) in nodes)
        if news := [asset for asset, known in nodes.items() if not adds_nothing(pieces[asset], known)]:
            self._connection.execute(query("graph/nodes_await_lake"), _columns(news))

    def _open_batch(self, extent: "Extent | None" = None) -> int:
        row = self._connection.execute(query("outbox/open_batch"), extent or (None, None, None, None)).fetchone()
        assert row is not None  # noqa: S101 - INSERT … RETURNING of one row returns one row
        return int(row[0])

    def _merge_all(
        self, batch: int, events: Sequence[tuple[Record, AssetEvent | EdgeEvent | ClaimsEvent]]
    ) -> tuple[Counter[str], list[Refusal]]:
        assets = [(record, event) for record, event in events if isinstance(event, AssetEvent)]
        counts, refused = self._merge_lawful(batch, assets)
        if len(assets) < len(events):
            edges = [(record, event) for record, event in events if isinstance(event, EdgeEvent)]
            allowed, forbidden = self._edge_guard.allowed(edges)
            claims = [(record, event) for record, event in events if isinstance(event, ClaimsEvent)]
            merged, poison = self._halved(allowed, lambda found: self._edges.merge(batch, found), _edge_named)
            claimed, more = self._halved(claims, lambda found: self._claims.apply(batch, found), _job_named)
            counts, refused = counts + merged + claimed, [*refused, *forbidden, *poison, *more]
        return counts, refused

    def _merge_lawful(
        self, batch: int, events: Sequence[tuple[Record, AssetEvent]]
    ) -> tuple[Counter[str], list[Refusal]]:
        """Refuses events that remove a protective tag without authority, and merges the others."""
        judgement = self._guard.judge(self._connection, events)
        self._guard.record(self._connection, judgement.traces)
        counts, refused = self._merge_or_refuse(batch, judgement.allowed)
        return counts, [*judgement.refused, *refused]

    def _merge_or_refuse(
        self, batch: int, events: Sequence[tuple[Record, AssetEvent]]
    ) -> tuple[Counter[str], list[Refusal]]:
        return self._halved(events, lambda found: self._merge(batch, aggregate(found)), _asset_named)

    def _halved(
        self,
        events: Sequence[tuple[Record, Event]],
        work: Callable[[Sequence[Event]], Counter[str]],
        name: Callable[[Event], str],
    ) -> tuple[Counter[str], list[Refusal]]:
        """Halves a batch that PostgreSQL refuses until the one poisonous event is found; the others are applied."""
        if not events:
            return Counter(), []
        try:
            with self._connection.transaction():
                return work([event for _, event in events]), []
        except (psycopg.DataError, psycopg.errors.ProgramLimitExceeded) as error:
            if len(events) == 1:
                record, event = events[0]
                problem = Problem("NOT_STORABLE", str(error).splitlines()[0], name(event))
                return Counter(), [Refusal(record, event.tenant, (problem,))]
        middle = len(events) // 2
        first, first_refused = self._halved(events[:middle], work, name)
        second, second_refused = self._halved(events[middle:], work, name)
        return first + second, first_refused + second_refused

    def _merge(self, batch: int, rows: list[StagedLayer]) -> Counter[str]:
        counts = Counter(row.layer_name for row in rows)
        # The source first: it states the type with which the changes of the others are announced.
        layers = {layer: counts[layer] for layer in LAYERS if counts[layer]}
        return self._layers.merge(batch, [row.as_copy_row() for row in rows], layers)

    def _dead_letter(self, batch: int, refusals: Sequence[Refusal]) -> None:
        rows = [
            {
                "batch": batch,
                "tenant": refusal.tenant,
                "topic": refusal.record.topic,
                "partition": refusal.record.partition,
                "offset": refusal.record.offset,
                "key": refusal.record.key,
                "original": refusal.record.value,
                "errors": Jsonb([problem.as_dict() for problem in refusal.problems]),
            }
            for refusal in refusals
        ]
        if rows:
            self._connection.cursor().executemany(query("outbox/insert_dead_letters"), rows)


def _extent(events: Sequence[tuple[Record, Any]], refusals: Sequence[Refusal]) -> Extent:
    """What of the log a batch applies; it is of one partition."""
    records = [record for record, _ in events] + [refusal.record for refusal in refusals]
    offsets = [record.offset for record in records]
    return records[0].topic, records[0].partition, min(offsets), max(offsets) + 1


def _asset_named(event: AssetEvent) -> str:
    return event.statement.qualified_name


def _edge_named(event: EdgeEvent) -> str:
    return named(event.statement.key)


def _job_named(event: ClaimsEvent) -> str:
    return event.job_id


def _columns(assets: Sequence[tuple[str, str]]) -> dict[str, str]:
    return {"tenants": id_array(tenant for tenant, _ in assets), "ids": id_array(asset_id for _, asset_id in assets)}
