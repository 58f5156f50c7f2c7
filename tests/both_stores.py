"""A small tenant in PostgreSQL and in the lake: a test states something, and decides which query goes on when.

Everything that judges is the pipeline's own: validation, the merge, the task and the files of the lake, promotion,
what the relay routes to propagation, reads of both stores and decisions. There is no Kafka; the log is a list.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

import orjson
import psycopg

from lily.bus import topics
from lily.bus.authority import SigningKey, Verifier, sign
from lily.lineage.definitions import TagDefinition
from lily.model import clock, governance, ids
from lily.model.changes import differing
from lily.model.columns import AssetRecord, ColumnsEvent, events_of
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.events import AssetEvent, LogEvent
from lily.model.lanes import lane_of
from lily.model.records import Record
from lily.pipeline.lake.lookups import LakeLookups
from lily.pipeline.lake.promotion import promote, set_parents
from lily.pipeline.validation import validate_asset_record, validate_lineage_record
from lily.reactions.propagation.reaction import marks_of
from lily.reactions.relay import routing
from lily.store.assets import StoredAsset
from lily.store.catalogue import Catalogue
from lily.store.lake.reader import LakeReader
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.outbox.batches import Outbox, OutgoingChange
from lily.store.postgres.propagation.propagator import Propagator
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database
from tests import edge_oracle, protection_oracle
from tests.stored_lineage import stored_definitions, stored_derived, stored_graph
from tests.tag_oracle import Derived, TagGraph, recompute

KEY = SigningKey.of(bytes(32))


class Reads:
    """One connection of the API's role, and an event loop for it."""

    def __init__(self, url: str) -> None:
        self._runner, self._database = asyncio.Runner(), Database(url)
        self._runner.run(self._database.open())

    def close(self) -> None:
        self._runner.run(self._database.close())
        self._runner.close()

    def find(self, tenant: str, asset_ids: Sequence[str], lake: LakeReader) -> list[StoredAsset]:
        catalogue = Catalogue(AssetReader(self._database, TagRulesCache(self._database)), lake)
        return list(self._runner.run(catalogue.find_many(tenant, asset_ids)).values())


class Lake(Protocol):
    """Where batches are written. `write` with a crash leaves the batch half written; the caller repeats it."""

    lookups: LakeLookups

    def write(self, records: Sequence[Record], *, crash: bool = False) -> None: ...

    def compact(self) -> None: ...

    def reader(self) -> LakeReader: ...


class Parts(NamedTuple):
    """What all tenants of a test share."""

    store: CatalogueWriter
    propagator: Propagator
    outbox: Outbox
    owner: psycopg.Connection
    reads: Reads


class BothStores:
    def __init__(self, tenant: str, parts: Parts, lake: Lake) -> None:
        self.tenant, self._parts, self.lake = tenant, parts, lake
        self.assets: list[AssetEvent] = []  # what was stated, each once
        self.edges: list[edge_oracle.Event] = []
        self._log: dict[str, list[Record]] = {topics.ASSETS: [], topics.ASSETS_BULK: []}
        self._applied = 0  # of the hot lane
        self._written = dict.fromkeys(self._log, 0)  # by the lake query
        self._states_end = 0  # of the hot lane: up to here the lake has states, also of a batch that it is to repeat
        self._routed = 0  # the position of the last change that propagation knows
        self.on_delete = "keep"
        self._reader = lake.reader()

    def close(self) -> None:
        self._reader.close()

    def id_of(self, name: str) -> str:
        return ids.asset_id(self.tenant, name)

    def definitions(self) -> list[TagDefinition]:
        return stored_definitions(self._parts.owner, self.tenant)

    def cut_deleted(self) -> None:
        self.on_delete = "cut"
        self._parts.owner.execute("update tenants set on_delete = 'cut' where id = %s", [self.tenant])

    def state(self, event: AssetRecord, *, single: bool = False) -> None:
        """Appends to the log. A single write takes the hot lane."""
        lane = "bulk" if isinstance(event, ColumnsEvent) else "hot" if single else lane_of(event)
        log = self._log[topics.OF_LANE[lane]]
        log.append(_record(topics.OF_LANE[lane], len(log), event))
        known = {(one.id, one.asset_id) for one in self.assets}
        self.assets += [one for one in events_of(event) if (one.id, one.asset_id) not in known]

    def link(self, event: EdgeEvent | ClaimsEvent) -> None:
        """The query for edges applies it."""
        record = _record(topics.LINEAGE_INTAKE, 0, event)
        found = validate_lineage_record(record, self._parts.store.knows_tenant, verifier=Verifier([KEY]))
        assert isinstance(found, EdgeEvent | ClaimsEvent), found
        self._parts.store.apply(topics.LINEAGE_INTAKE, {}, [(record, found)], [])
        self.edges += [event] if event.id not in {one.id for one in self.edges} else []

    def apply_hot(self, most: int) -> None:
        """The hot query applies the next events."""
        batch = []
        for record in self._log[topics.ASSETS][self._applied : self._applied + most]:
            event = validate_asset_record(record, self._parts.store.knows_tenant, verifier=Verifier([KEY]))
            assert isinstance(event, AssetEvent), event
            batch.append((record, event))
        self._parts.store.apply("both stores", {}, batch, [])
        self._applied += len(batch)

    def write_lake(self, most: int, *, crash: bool = False) -> None:
        """The lake query writes the next events of each topic. One that crashed starts with the same ones again."""
        found = {topic: log[self._written[topic] : self._written[topic] + most] for topic, log in self._log.items()}
        if records := [record for some in found.values() for record in some]:
            self.lake.write(records, crash=crash)
        ends = {topic: self._written[topic] + len(some) for topic, some in found.items()}
        self._states_end = max(self._states_end, ends[topics.ASSETS])
        if not crash:
            self._written = ends

    @property
    def lake_is_ahead(self) -> bool:
        """Whether the lake has states of events that the hot query has not applied."""
        return self._applied < self._states_end

    def between_batches(self) -> None:
        """What the lake query does between two batches (`LakeRun._promote_between_batches`)."""
        if not self.lake_is_ahead:
            promote(self.lake.lookups, self._parts.store)
        behind = any(self._written[topic] < len(log) for topic, log in self._log.items())
        set_parents(self.lake.lookups, self._parts.propagator, set() if behind else None)

    def propagate(self) -> None:
        """The relay publishes everything, and propagation handles what is routed to it."""
        self._parts.propagator.propagate(self.tenant, marks_of(self._governance_records(), frozenset()))
        self._parts.owner.execute(
            "update batches set published_at = now(), ends = '{}' where published_at is null and id <= "
            "(select max(batch_id) from (select batch_id from changes where tenant_id = %(tenant)s "
            "union all select batch_id from edge_changes where tenant_id = %(tenant)s) mine)",
            {"tenant": self.tenant},
        )

    def catch_up(self) -> None:
        """Every query reads the log to its end, and propagation follows."""
        self.apply_hot(len(self._log[topics.ASSETS]))
        self.write_lake(max(map(len, self._log.values())))
        self.between_batches()
        self.propagate()
        self.between_batches()  # edges may have made nodes of what only the lake has
        self.propagate()

    def stored(self) -> set[Derived]:
        return stored_derived(self._parts.owner, self.tenant)

    def recomputed(self) -> set[Derived]:
        """What follows from the graph as PostgreSQL has it now, with the columns that only the lake has."""
        graph = stored_graph(self._parts.owner, self.tenant)
        self._add_lake_nodes(graph)
        return self._as_stored(recompute(graph, self.definitions()))

    def expected(self) -> set[Derived]:
        """What follows from all that was stated, once every query has caught up."""
        return self._as_stored(protection_oracle.derived(self._stated_graph(), self.definitions()))

    def expected_effective(self) -> dict[str, set[str]]:
        """By name, for every asset that somebody stated."""
        names = {event.asset_id: event.statement.qualified_name for event in self.assets}
        found = protection_oracle.effective(self._stated_graph(), self.definitions(), names)
        return {names[asset]: tags for asset, tags in found.items()}

    def read(self, names: Sequence[str]) -> dict[str, set[str]]:
        """The effective tags that a read shows, by name."""
        found = self._parts.reads.find(self.tenant, [self.id_of(name) for name in names], self._reader)
        return {asset.qualified_name: asset.effective for asset in found}

    def _stated_graph(self) -> TagGraph:
        return protection_oracle.graph_of(self.tenant, self.assets, self.edges, self.on_delete)

    def _as_stored(self, derived: set[Derived]) -> set[Derived]:
        """Inherited tags are stored only for nodes of the graph."""
        rows = self._parts.owner.execute("select id::text from graph_nodes where tenant_id = %s", [self.tenant])
        nodes = {node for (node,) in rows}
        return {one for one in derived if one.kind != "inherited" or one.asset in nodes}

    def _add_lake_nodes(self, graph: TagGraph) -> None:
        # Also of an asset that waits for what the lake has of it: until then the graph keeps the parent that it had.
        known = "exists (select from assets a where a.tenant_id = g.tenant_id and a.id = g.id and not a.awaits_lake)"
        asked = f"select id::text, parent::text from graph_nodes g where tenant_id = %s and not {known}"  # noqa: S608
        for asset, parent in self._parts.owner.execute(asked.encode(), [self.tenant]):
            if parent is not None:
                graph.held_parents.setdefault(asset, set()).add(parent)
        for asset, parent in self._parts.owner.execute(
            "select id::text, parent::text from held_parents where tenant_id = %s", [self.tenant]
        ):
            graph.held_parents.setdefault(asset, set()).add(parent)

    def _governance_records(self) -> list[bytes]:
        """What the relay makes of the changes since the last time."""
        outbox, tenant, since = self._parts.outbox, self.tenant, self._routed
        of_batches, of_tenant = "batch_id = any(%s)", "tenant_id = %s and position > %s"
        asked = query("outbox/changes_of_batches").replace(of_batches, of_tenant)
        rows = self._parts.owner.execute(asked.encode(), [tenant, since])
        changes = [OutgoingChange(*row).decoded() for row in rows]
        members = routing._members(outbox, changes)
        records = [
            routing._record(one, changed, governance.NOTHING)
            for one in changes
            if routing.concerns_governance(one, changed := differing(one.before, one.after), frozenset(), members)
        ]
        edges = self._parts.owner.execute(
            "select from_id::text, to_id::text, position from edge_changes where tenant_id = %s and position > %s",
            [tenant, since],
        ).fetchall()
        records += [governance.edge_record(start, end, position, "") for start, end, position in edges]
        positions = [change.position for change in changes] + [position for _, _, position in edges]
        self._routed = max(positions, default=since)
        return [orjson.dumps(record) for record in records]


def _record(topic: str, offset: int, event: LogEvent) -> Record:
    value = orjson.dumps(event.as_cloudevent())  # type: ignore[attr-defined]
    received = clock.stamp(datetime.now(UTC))
    return Record(topic, 0, offset, received, event.key, sign(value, [KEY]) if event.has_authority else value)  # type: ignore[attr-defined]
