"""Promotion also happens where the lake was ahead of the hot lane, and never beside a batch."""

import threading
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from lily.pipeline.lake_query import Running
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.offsets import LogOffsets
from lily.store.postgres.hot import HotStore
from lily.store.postgres.lake import LakeLedger
from tests import oracle
from tests.integration.test_convergence import comparable, stored
from tests.stream.conftest import Lake
from tests.stream.test_lake_convergence import new_trial

# PySpark leaves the socket of a collected result to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

COLUMN = "shop.public.orders.email"


@pytest.fixture
def running(lake: Lake) -> Iterator[Running]:
    store, ledger = HotStore(lake.settings.database_url), LakeLedger(lake.settings.database_url)
    log = LogOffsets(lake.settings.kafka_bootstrap, "test")
    yield Running(
        spark=lake.spark,
        settings=lake.settings,
        stop=threading.Event(),
        metrics=PipelineMetrics(),
        ledger=ledger,
        log=log,
        store=store,
    )
    log.close()
    ledger.close()
    store.close()


def event(tenant: str, second: int, **data: Any) -> AssetEvent:
    statement = read_statement({"qualified_name": COLUMN, **data}, tenant=tenant)
    return AssetEvent(str(uuid.uuid4()), f"2026-01-01T00:00:0{second}.000000Z", tenant, statement)


def test_a_column_that_turns_hot_after_the_last_batch_gets_its_past_between_batches(
    lake: Lake, running: Running
) -> None:
    store = running._store
    trial = new_trial(lake, store)
    plain = event(trial.tenant, 1, entity_type="column", attributes={"name": "email", "data_type": "text"})
    edit = event(trial.tenant, 2, layer="user", attributes={"owner": "alice"})
    trial.arrive([plain, edit])
    trial.write_lake(10)
    trial.apply_hot(10)
    assert [tenant for tenant, _ in store.awaiting_lake(10)] == [trial.tenant]
    with running._turn:
        running._promote_between_batches()
        assert len(store.awaiting_lake(10)) == 1
    running._promote_between_batches()
    assert store.awaiting_lake(10) == []
    assert comparable(stored(lake.owner, trial.tenant)) == oracle.catalogue([plain, edit])
