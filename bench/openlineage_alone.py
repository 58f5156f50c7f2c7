"""Processor time per OpenLineage event of PostgreSQL and the tasks: `python -m bench.openlineage_alone [JOBS TENANTS]`.

A PostgreSQL of its own, and in one process what the queries, the relay and propagation do with the events of
`bench openlineage`, without Spark, Kafka and the lake's files: new jobs, then their next runs. One tenant comes after
the other and none is removed, so that a price that depends on what others have stored shows. PostgreSQL's time is that
of the backends, as the scheduler counts it.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import psycopg

from bench.merge_alone import PASSWORDS, backend_of, seconds_of, server
from bench.openlineage_events import event
from lily.api.ingest.records import bulk_asset_record, columns_records, lineage_record
from lily.bus import topics
from lily.bus.authority import Verifier
from lily.embedded.bootstrap import url_for_role
from lily.intake.openlineage.intake import OpenLineage, OpenLineageConfig
from lily.lineage.lake_nodes import lake_node_of
from lily.model import clock
from lily.model.columns import ColumnsEvent, states_of
from lily.model.edges import ClaimsEvent
from lily.model.envelopes import FUTURE_SKEW
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.states import AssetState, merge_states
from lily.pipeline.hot.task import _apply
from lily.pipeline.lake.accepted import AcceptedRecords
from lily.plugins import Delivery, Sender
from lily.reactions.propagation.reaction import marks_of
from lily.reactions.relay.routing import outgoing
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.migrations import migrate
from lily.store.postgres.outbox.batches import Outbox
from lily.store.postgres.propagation.propagator import Propagator

JOBS, TENANTS = 6_000, 3
AT_ONCE = 120  # events whose records a micro-batch has at 300 events/s
PARTITIONS = 2
TOPICS = (topics.ASSETS, topics.LINEAGE_INTAKE, topics.ASSETS_BULK)
MICROSECONDS = 1_000_000
Costs = dict[str, float]


def main() -> None:
    jobs, tenants = map(int, sys.argv[1:]) if len(sys.argv) > 1 else (JOBS, TENANTS)
    with server() as url:
        migrate(url, PASSWORDS)
        pipeline = url_for_role(url, "lily_pipeline", PASSWORDS["lily_pipeline"])
        with (
            psycopg.connect(url, autocommit=True) as control,
            closing(CatalogueWriter(pipeline)) as writer,
            closing(Outbox(pipeline)) as outbox,
            closing(Propagator(pipeline)) as propagator,
        ):
            lane = Lane(control, writer, outbox, propagator)
            for number in range(tenants):
                create_tenant(url, tenant := f"tenant-{number}")
                for kind in ("new jobs", "next runs"):
                    print(json.dumps({"tenant": number, "events": kind, **lane.run(tenant, jobs)}), flush=True)


class Lane:
    def __init__(
        self, control: psycopg.Connection, writer: CatalogueWriter, outbox: Outbox, propagator: Propagator
    ) -> None:
        self._writer, self._outbox, self._propagator = writer, outbox, propagator
        names = ("lily-pipeline", "lily-relay", "lily-propagator")
        self._backends = [backend_of(control, name) for name in names]
        self._intake = OpenLineage(OpenLineageConfig())
        self._offsets: dict[tuple[str, int], int] = defaultdict(int)
        self._costs: Costs = {}
        self._columns: dict[tuple[str, str], AssetState] = {}

    def run(self, tenant: str, jobs: int) -> dict[str, int]:
        """In µs per event."""
        self._costs = defaultdict(float)
        for first in range(0, jobs, AT_ONCE):
            self._batch(tenant, range(first, min(first + AT_ONCE, jobs)))
        return {step: round(seconds * MICROSECONDS / jobs) for step, seconds in self._costs.items()}

    def _batch(self, tenant: str, jobs: Sequence[int]) -> None:
        taken: dict[str, list[list[Record]]] = {topic: [[] for _ in range(PARTITIONS)] for topic in TOPICS}
        with self._counted("intake"):
            events = [found for job in jobs for found in self._events(tenant, job)]
        for one in events:
            for record in self._records(one):
                taken[record.topic][record.partition].append(record)
        for topic, name in ((topics.ASSETS, "assets"), (topics.LINEAGE_INTAKE, "claims")):
            for records in filter(None, taken[topic]):
                with self._counted(name):
                    _apply(records, FUTURE_SKEW, Verifier(()), self._writer)
        for records in filter(None, taken[topics.ASSETS_BULK]):
            with self._counted("columns"):
                accepted = AcceptedRecords(records, self._writer.knows_tenant, FUTURE_SKEW, ())
                states = merge_states(state for _, found in accepted.bulk for state in states_of(found))
                self._writer.merge_existing(states, accepted.bulk, accepted.refused)
            self._columns |= states
        with self._counted("relay"):
            published = self._publish()
        with self._counted("propagation"):
            if (marks := marks_of(published, frozenset())).any:
                self._propagator.propagate(tenant, marks)
        with self._counted("parents"):
            waiting = self._propagator.awaiting_lake(20_000)
            self._propagator.set_parents({asset: lake_node_of(self._columns.get(asset)) for asset in waiting})
        self._columns.clear()

    def _events(self, tenant: str, job: int) -> Iterator[AssetEvent | ColumnsEvent | ClaimsEvent]:
        delivery = Delivery(event(job), {}, clock.now())
        (item,) = self._intake.decode(delivery)
        for found in self._intake.events(item, delivery, Sender(tenant, "producer")):
            assert isinstance(found, AssetEvent | ColumnsEvent | ClaimsEvent), found
            yield found

    def _records(self, found: AssetEvent | ColumnsEvent | ClaimsEvent) -> Iterator[Record]:
        if isinstance(found, ColumnsEvent):
            made = columns_records(found)
        else:
            made = [bulk_asset_record(found) if isinstance(found, AssetEvent) else lineage_record(found)]
        for record in made:
            partition = sum(record.key) % PARTITIONS
            offset = self._offsets[record.topic, partition]
            self._offsets[record.topic, partition] += 1
            yield Record(record.topic, partition, offset, clock.stamp(datetime.now(UTC)), record.key, record.value)

    def _publish(self) -> list[bytes]:
        found = []
        while batches := self._outbox.unpublished(50):
            found += [one.value for one in outgoing(self._outbox, batches) if one.topic == topics.GOVERNANCE]
            self._outbox.mark_published(batches, {})
        return found

    @contextmanager
    def _counted(self, step: str) -> Iterator[None]:
        python, server = time.process_time(), sum(map(seconds_of, self._backends))
        yield
        self._costs[f"{step}, PostgreSQL"] += sum(map(seconds_of, self._backends)) - server
        self._costs[f"{step}, Python"] += time.process_time() - python


if __name__ == "__main__":
    main()
