"""Promotion also happens if the lake was ahead of the hot lane, and never during a batch."""

import threading
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from lily.bus import topics
from lily.lineage.marks import EdgeMark, Marks
from lily.model.edges import EdgeEvent, read_edge_statement
from lily.model.errors import Problem
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.statements import read_statement
from lily.pipeline.lake.commits import Commit
from lily.pipeline.lake.query import LakeRun
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.offsets import LogOffsets
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.lake.commits import LakeLedger
from lily.store.postgres.propagation.propagator import Propagator
from tests import oracle
from tests.integration.test_convergence import comparable, stored
from tests.stream.conftest import Lake
from tests.stream.test_lake_convergence import new_trial

# PySpark leaves the socket of a collected result to the garbage collector.
pytestmark = [pytest.mark.campaign, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]

COLUMN = "shop.public.orders.email"


@pytest.fixture
def running(lake: Lake) -> Iterator[LakeRun]:
    store, ledger = CatalogueWriter(lake.settings.database_url), LakeLedger(lake.settings.database_url)
    log, propagator = LogOffsets(lake.settings.brokers, "test"), Propagator(lake.settings.database_url)
    yield LakeRun(
        spark=lake.spark,
        settings=lake.settings,
        stop=threading.Event(),
        metrics=PipelineMetrics(),
        ledger=ledger,
        log=log,
        store=store,
        propagator=propagator,
    )
    propagator.close()
    log.close()
    ledger.close()
    store.close()


def event(tenant: str, second: int, **data: Any) -> AssetEvent:
    statement = read_statement({"qualified_name": COLUMN, **data}, tenant=tenant)
    return AssetEvent(str(uuid.uuid4()), f"2026-01-01T00:00:0{second}.000000Z", tenant, statement)


def test_a_column_that_becomes_hot_after_the_last_batch_is_promoted_between_batches(
    lake: Lake, running: LakeRun
) -> None:
    store = running._store
    trial = new_trial(lake, store)
    plain = event(trial.tenant, 1, entity_type="column", attributes={"name": "email", "data_type": "text"})
    edit = event(trial.tenant, 2, layer="user", attributes={"owner": "alice"})
    trial.arrive([plain, edit])
    trial.write_lake(10)
    trial.apply_hot(10)
    assert [tenant for tenant, _ in store.awaiting_lake(10)] == [trial.tenant]
    with running._write_lock:
        running._promote_between_batches()
        assert len(store.awaiting_lake(10)) == 1
    running._promote_between_batches()
    assert store.awaiting_lake(10) == []
    assert comparable(stored(lake.owner, trial.tenant)) == oracle.catalogue([plain, edit])


def test_what_the_hot_lane_refused_is_not_promoted(lake: Lake, running: LakeRun) -> None:
    trial = new_trial(lake, running._store)
    plain = event(trial.tenant, 1, entity_type="column", attributes={"name": "email", "data_type": "text"})
    edit = event(trial.tenant, 2, layer="user", attributes={"owner": "alice"})
    refused = event(trial.tenant, 3, layer="user", attributes={"owner": "mallory", "description": "mine"})
    later = event(trial.tenant, 4, layer="user", attributes={"display_name": "E-mail"})
    trial.arrive([plain, edit, refused, later])
    trial.write_lake(10)
    trial.apply_hot(1)
    trial.refuse_hot(Problem("FORBIDDEN", "removes a protective tag", COLUMN))
    trial.apply_hot(1)
    running._promote_between_batches()
    assert running._store.awaiting_lake(10) == []
    assert comparable(stored(lake.owner, trial.tenant)) == oracle.catalogue([plain, edit, later])


def test_nothing_is_promoted_while_the_hot_lane_may_still_refuse_it(lake: Lake, running: LakeRun) -> None:
    trial = new_trial(lake, running._store)
    plain = event(trial.tenant, 1, entity_type="column", attributes={"name": "email", "data_type": "text"})
    edit = event(trial.tenant, 2, layer="user", attributes={"owner": "alice"})
    trial.arrive([plain, edit])
    trial.write_lake(10)
    trial.apply_hot(1)
    ahead = max(running._ledger.applied(topics.ASSETS).values(), default=0) + 1
    running._last = Commit(1, {(topics.ASSETS, 0): ahead})
    running._promote_between_batches()
    assert len(running._store.awaiting_lake(10)) == 1
    running._store.apply(topics.ASSETS, {0: ahead}, [], [])
    running._promote_between_batches()
    assert running._store.awaiting_lake(10) == []


def test_a_column_that_only_the_lake_has_passes_on_the_tags_of_its_table(running: LakeRun, lake: Lake) -> None:
    trial = new_trial(lake, running._store)
    table, report = "shop.public.orders", "reports.sales"
    tagged = {"qualified_name": table, "entity_type": "table", "attributes": {"name": "orders", "tags": ["PII"]}}
    plain = {"entity_type": "column", "attributes": {"name": "email", "parent": table}}
    trial.arrive([event(trial.tenant, 1, **tagged), event(trial.tenant, 2, **plain)])
    stated = {"from": COLUMN, "to": report, "relationship_type": "used-in", "layer": "user"}
    statement = read_edge_statement(stated, tenant=trial.tenant)
    edge = EdgeEvent("0" * 8 + "-0000-7000-8000-" + "0" * 12, "2026-01-01T00:00:03.000000Z", trial.tenant, statement)
    record = Record(topics.LINEAGE_INTAKE, 0, 0, edge.time, None, None)
    running._store.apply(topics.LINEAGE_INTAKE, {}, [(record, edge)], [])
    trial.settle()
    marks = Marks(edges=[EdgeMark(statement.key.from_id, statement.key.to_id)])
    running._propagator.propagate(trial.tenant, marks)
    assert _derived(lake, trial.tenant) == set()
    running._promote_between_batches()
    assert _derived(lake, trial.tenant) == {(statement.key.from_id, "inherited"), (statement.key.to_id, "propagated")}


def _derived(lake: Lake, tenant: str) -> set[tuple[str, str]]:
    with psycopg.connect(lake.owner) as owner:
        rows = owner.execute("select asset_id::text, kind from derived_tags where tenant_id = %s", [tenant])
        return set(rows.fetchall())
