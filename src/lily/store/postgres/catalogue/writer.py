"""Applies batches of the log to the catalogue: merge, change log, dead letters and offsets in one transaction."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from lily.lineage.edge_state import edge_name
from lily.lineage.lake_nodes import LakeNode, adds_nothing
from lily.model.assets import LAYERS
from lily.model.columns import AssetRecord, TenantAsset, events_of
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.errors import Problem
from lily.model.events import AssetEvent
from lily.model.layer_limits import MAX_BYTES, MAX_HELD, outgrows
from lily.model.plain_events import PlainEvent
from lily.model.records import Record, Refusal
from lily.model.statements import Statement
from lily.model.states import AssetState
from lily.store.postgres.catalogue.aggregation import StagedRow, aggregate, copy_rows, count_layers, rows_of_state
from lily.store.postgres.connection import connect
from lily.store.postgres.copying import id_array
from lily.store.postgres.dead_letters.refusals import insert_refusals
from lily.store.postgres.dead_letters.refused_records import Position, refused_of_assets
from lily.store.postgres.edges.claims import ClaimMerger
from lily.store.postgres.edges.merge import EdgeMerger
from lily.store.postgres.known_tenants import KnownTenants
from lily.store.postgres.lake.parents import LakeParents, share_lake_parents
from lily.store.postgres.layer_merge import LayerMerge
from lily.store.postgres.progress.positions import next_offsets, raise_positions
from lily.store.postgres.protection.ended_tags import EndedTags
from lily.store.postgres.queries import layer_query, query

OffsetRange = tuple[str, int, int, int]  # topic, partition, first offset, next offset
StatedAsset = AssetEvent | PlainEvent
StoredEvent = StatedAsset | EdgeEvent | ClaimsEvent
LayerOfAsset = tuple[str, str]  # layer and id
Event = TypeVar("Event", StatedAsset, EdgeEvent, ClaimsEvent)

# PostgreSQL refuses the value itself, not the moment: the same event would fail again.
_NOT_STORABLE = (psycopg.DataError, psycopg.errors.ProgramLimitExceeded)


@dataclass(frozen=True, slots=True)
class BatchCounts:
    merged: int
    changed: int
    refused: int
    held: int = 0  # claims that ended without authority and still conduct protective tags

    def __add__(self, other: "BatchCounts") -> "BatchCounts":
        return BatchCounts(
            self.merged + other.merged,
            self.changed + other.changed,
            self.refused + other.refused,
            self.held + other.held,
        )


class CatalogueWriter:
    """One connection of the pipeline's role. Every method leaves it ready for the next batch, or raises.

    A failure rolls back the whole batch, including its offsets, so the caller can apply the batch again.
    """

    def __init__(self, database_url: str) -> None:
        self._connection = connect(database_url, "lily-pipeline")
        # A batch stages few rows compared with the catalogue, but PostgreSQL has no statistics of a temporary table.
        # Without these settings it may scan the whole catalogue for each batch.
        self._connection.execute("set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off")
        # A plan that is kept from a time when a table was empty reads all of the table for each row of a batch.
        self._connection.execute("set plan_cache_mode = force_custom_plan")
        # Enough to stage and sort a batch of the default size in memory.
        self._connection.execute("set work_mem = '64MB'; set temp_buffers = '64MB'")
        self._connection.execute(query("catalogue/stage"))
        keys = ("tenant_id", "id", "entity_type")
        self._ended = EndedTags(self._connection)
        self._layers = LayerMerge(self._connection, "catalogue", "staged", keys, layer_query, observer=self._ended.note)
        self._edges, self._claims = EdgeMerger(self._connection), ClaimMerger(self._connection)
        self._tenants, self._lake_parents = KnownTenants(self._connection), LakeParents(self._connection)

    def close(self) -> None:
        self._connection.close()

    def positions(self, topic: str) -> dict[int, int]:
        """The next offset to apply, for every partition that was ever applied. Changes that are written from now on
        have positions that were never used."""
        raise_positions(self._connection)
        return next_offsets(self._connection, topic)

    def knows_tenant(self, tenant: str) -> bool:
        return tenant in self._tenants

    def apply(
        self,
        topic: str,
        next_offsets: dict[int, int],
        events: Sequence[tuple[Record, StoredEvent]],
        refusals: Sequence[Refusal],
    ) -> BatchCounts:
        with self._connection.transaction():
            batch = self._open_batch(_offset_range(events, refusals)) if events or refusals else 0
            counts, refused = self._merge_events(batch, events)
            insert_refusals(self._connection, batch, [*refusals, *refused])
            self._connection.cursor().executemany(
                query("progress/advance"), [(topic, partition, offset) for partition, offset in next_offsets.items()]
            )
            self._connection.execute("select pg_notify('lily_applied', '')")
        return BatchCounts(counts["merged"], counts["changed"], len(refusals) + len(refused), counts["held"])

    def merge_existing(
        self,
        states: Mapping[TenantAsset, AssetState],
        events: Sequence[tuple[Record, AssetRecord]],
        refusals: Sequence[Refusal],
    ) -> BatchCounts:
        """Merges what the events state about assets that PostgreSQL has; all others stay in the lake only. `states` are
        those that the events make. Idempotent."""
        self._lake_parents.add(event for _, event in events)
        with self._connection.transaction():
            existing = self._existing(states)
            pairs = events if existing else ()
            to_merge = [(record, event) for record, stated in pairs for event in events_of(stated, existing)]
            self._mark_lake_nodes({asset: state for asset, state in states.items() if asset not in existing})
            batch = self._open_batch() if to_merge or refusals else 0
            counts, refused = self._merge_assets(batch, to_merge)
            insert_refusals(self._connection, batch, [*refusals, *refused])
        return BatchCounts(counts["merged"], counts["changed"], len(refusals) + len(refused))

    def awaiting_lake(self, limit: int) -> list[TenantAsset]:
        """Assets that may have a state in the lake that has not been promoted yet, of every tenant that has any."""
        return self._connection.execute(query("catalogue/awaiting_lake"), {"limit": limit}).fetchall()

    def refused_records(self, assets: Sequence[TenantAsset], topics: Sequence[str]) -> dict[TenantAsset, set[Position]]:
        """The records of these assets that were refused, by asset. The lake has merged them."""
        return refused_of_assets(self._connection, assets, topics)

    def promote(self, states: Sequence[AssetState], assets: Sequence[TenantAsset]) -> int:
        """Merges the states that the lake has of these assets, and marks all of the assets as promoted.

        A state that PostgreSQL cannot store stays in the lake: the events it comes from are refused here as well.
        """
        rows = [row for state in states for row in rows_of_state(state)]
        with self._connection.transaction():
            changed = self._merge_storable(self._open_batch(), rows) if rows else 0
            self._connection.execute(query("catalogue/clear_awaiting_lake"), _columns(assets))
        return changed

    def _merge_storable(self, batch: int, rows: Sequence[StagedRow]) -> int:
        """Splits rows that PostgreSQL refuses in half, until only the row that it cannot store is left out."""
        try:
            with self._connection.transaction():
                return self._merge(batch, rows)["changed"]
        except _NOT_STORABLE:
            if len(rows) == 1:
                return 0
        middle = len(rows) // 2
        return self._merge_storable(batch, rows[:middle]) + self._merge_storable(batch, rows[middle:])

    def _existing(self, assets: Collection[TenantAsset]) -> set[TenantAsset]:
        if not assets:
            return set()
        return set(self._connection.execute(query("catalogue/existing_ids"), _columns(list(assets))).fetchall())

    def _mark_lake_nodes(self, states: Mapping[TenantAsset, AssetState]) -> None:
        """Marks the graph nodes of assets that only the lake has and about which these states have something new."""
        assets = list(states)
        rows = self._connection.execute(query("graph/lake_nodes"), _columns(assets)).fetchall() if assets else []
        nodes = {(row[0], row[1]): LakeNode(row[2], row[3], row[4], row[5], row[6], frozenset(row[7])) for row in rows}
        if changed := [asset for asset, node in nodes.items() if not adds_nothing(states[asset], node)]:
            self._connection.execute(query("graph/mark_awaiting_lake"), _columns(changed))

    def _open_batch(self, offsets: "OffsetRange | None" = None) -> int:
        row = self._connection.execute(query("outbox/open_batch"), offsets or (None, None, None, None)).fetchone()
        assert row is not None  # noqa: S101 - INSERT … RETURNING of one row returns one row
        return int(row[0])

    def _merge_events(
        self, batch: int, events: Sequence[tuple[Record, StoredEvent]]
    ) -> tuple[Counter[str], list[Refusal]]:
        assets = [(record, event) for record, event in events if isinstance(event, PlainEvent | AssetEvent)]
        counts, refused = self._merge_assets(batch, assets)
        if len(assets) < len(events):
            edges = [(record, event) for record, event in events if isinstance(event, EdgeEvent)]
            claims = [(record, event) for record, event in events if isinstance(event, ClaimsEvent)]
            merged, poison = self._bisect(edges, lambda some: self._edges.merge(batch, some), _edge_name)
            claimed, more = self._bisect(claims, lambda some: self._claims.merge(batch, some), _job_name)
            counts, refused = counts + merged + claimed, [*refused, *poison, *more]
        return counts, refused

    def _merge_assets(
        self, batch: int, events: Sequence[tuple[Record, StatedAsset]]
    ) -> tuple[Counter[str], list[Refusal]]:
        """What a statement ends without authority is held (`lily.model.held`), so none is refused for that."""
        if events:
            share_lake_parents(self._connection)
        full = (event for _, event in events if isinstance(event, AssetEvent))
        if requests := [event for event in full if _may_stop_tags(event.statement)]:
            self._ended.audit_requests(requests)
        authorised = {_layer_of(event) for _, event in events if isinstance(event, AssetEvent) and event.has_authority}
        too_large: set[LayerOfAsset] = set()
        self._layers.limit(outgrows, authorised)
        try:
            counts, refused = self._bisect(
                events, lambda some: self._merge_limited(batch, aggregate(some), authorised, too_large), _qualified_name
            )
        finally:
            self._layers.limit(None)
        if not too_large:
            return counts, refused
        large = [(record, event) for record, event in events if _layer_of(event) in too_large]
        return counts, [*refused, *(_too_large(record, event) for record, event in large)]

    def _merge_limited(
        self, batch: int, rows: Sequence[StagedRow], authorised: Collection[LayerOfAsset], too_large: set[LayerOfAsset]
    ) -> Counter[str]:
        """Without the statements that make a layer too large, alone or together; adds these layers to `too_large`."""
        large = {one for row in rows if (one := _grown(row)) is not None}.difference(authorised)
        kept = [row for row in rows if _layer_of_row(row) not in large] if large else rows
        counts = self._merge(batch, kept) if kept else Counter[str]()
        too_large |= large | {(layer, asset) for layer, _, asset, _ in self._layers.left_out}
        return counts

    def _bisect(
        self,
        events: Sequence[tuple[Record, Event]],
        merge: Callable[[Sequence[Event]], Counter[str]],
        name: Callable[[Event], str],
    ) -> tuple[Counter[str], list[Refusal]]:
        """Splits events that PostgreSQL refuses in half until the one it cannot store is alone; merges all others."""
        if not events:
            return Counter(), []
        try:
            with self._connection.transaction():
                return merge([event for _, event in events]), []
        except _NOT_STORABLE as error:
            if len(events) == 1:
                record, event = events[0]
                problem = Problem("NOT_STORABLE", str(error).splitlines()[0], name(event))
                return Counter(), [Refusal(record, event.tenant, (problem,))]
        middle = len(events) // 2
        first, first_refused = self._bisect(events[:middle], merge, name)
        second, second_refused = self._bisect(events[middle:], merge, name)
        return first + second, first_refused + second_refused

    def _merge(self, batch: int, rows: Sequence[StagedRow]) -> Counter[str]:
        counts = count_layers(rows)
        # The source layer first: it states the type with which the changes of the other layers are published.
        layers = {layer: counts[layer] for layer in LAYERS if counts[layer]}
        self._ended.clear()
        result = self._layers.merge(batch, copy_rows(rows), layers)
        self._ended.audit_noted()
        return result


def _offset_range(events: Sequence[tuple[Record, Any]], refusals: Sequence[Refusal]) -> OffsetRange:
    """The offsets that a batch covers. All its records are of one partition."""
    records = [record for record, _ in events] + [refusal.record for refusal in refusals]
    offsets = [record.offset for record in records]
    return records[0].topic, records[0].partition, min(offsets), max(offsets) + 1


def _may_stop_tags(statement: Statement) -> bool:
    """Whether what the statement does not leave out, but adds, stops tags: see `EndedTags`."""
    if statement.release is not None:
        return statement.release.kind == "deletion"
    return statement.authorised and (
        statement.operation in {"suppress", "delete"}
        or (statement.layer != "source" and "parent" in statement.attributes)
    )


def _layer_of(event: StatedAsset) -> LayerOfAsset:
    return ("source" if isinstance(event, PlainEvent) else event.statement.layer), event.asset_id


def _layer_of_row(row: StagedRow) -> LayerOfAsset:
    return ("source", row.asset_id) if isinstance(row, PlainEvent) else (row.name, row.identity.split("\t")[1])


def _grown(row: StagedRow) -> LayerOfAsset | None:
    """The layer, if several statements make it too large together. One statement is limited by its body."""
    if isinstance(row, PlainEvent) or len(row.causes) == 1 or not outgrows(row.layer):
        return None
    return _layer_of_row(row)


def _too_large(record: Record, event: StatedAsset) -> Refusal:
    layer, _ = _layer_of(event)
    described = (
        f"with this, the {layer} layer of the asset would have more than {MAX_BYTES >> 20} MiB, or hold more than "
        f"{MAX_HELD:,} tags and parents that ended without policy:write; state less, or confirm what is pending "
        "(GET /protections/pending), and replay this"
    )
    return Refusal(record, event.tenant, (Problem("TOO_LARGE", described, _qualified_name(event)),))


def _qualified_name(event: StatedAsset) -> str:
    return event.qualified_name if isinstance(event, PlainEvent) else event.statement.qualified_name


def _edge_name(event: EdgeEvent) -> str:
    return edge_name(event.statement.key)


def _job_name(event: ClaimsEvent) -> str:
    return event.job_id


def _columns(assets: Sequence[TenantAsset]) -> dict[str, str]:
    return {"tenants": id_array(tenant for tenant, _ in assets), "ids": id_array(asset_id for _, asset_id in assets)}
