"""The lake continues after the commit with the greatest number, whatever the clocks say, and a driver that another one
has replaced cannot commit."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from lily.model.envelopes import FUTURE_SKEW
from lily.model.errors import Transient
from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from lily.pipeline.lake.batch import LakeBatch
from lily.pipeline.lake.commits import last_commit
from lily.store.lake import tables
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.lake.commits import LakeLedger
from tests.stream.conftest import Lake
from tests.stream.test_lake_convergence import as_told, new_trial
from tests.stream.trial import Trial

# PySpark leaves the socket of a collected result to the garbage collector.
pytestmark = [pytest.mark.campaign, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]


@pytest.fixture
def trial(lake: Lake) -> Iterator[Trial]:
    store = CatalogueWriter(lake.settings.database_url)
    yield new_trial(lake, store)
    store.close()


def column(trial: Trial, number: int) -> AssetEvent:
    name = f"c{number}"
    data = {"entity_type": "column", "qualified_name": f"shop.orders.{name}", "attributes": {"name": name}}
    statement = read_statement(data, tenant=trial.tenant)
    return AssetEvent(str(uuid.uuid4()), f"2026-01-01T00:00:0{number}.000000Z", trial.tenant, statement)


def set_last_commit_back(lake: Lake, seconds: int) -> None:
    """As if the clock had been set back before the newest snapshot of `events` was committed."""
    with psycopg.connect(lake.owner) as owner:
        named = "from iceberg_tables where table_name = %s"
        rows = owner.execute(f"select metadata_location {named}", [tables.EVENTS]).fetchall()
        current = Path(rows[0][0].removeprefix("file:"))
        metadata = json.loads(current.read_text())
        (newest,) = (one for one in metadata["snapshots"] if one["snapshot-id"] == metadata["current-snapshot-id"])
        newest["timestamp-ms"] -= seconds * 1000
        changed = current.with_name(f"{current.name.partition('-')[0]}-{uuid.uuid4()}.metadata.json")
        changed.write_text(json.dumps(metadata))
        owner.execute(
            "update iceberg_tables set metadata_location = %s where table_name = %s", [str(changed), tables.EVENTS]
        )


def test_the_newest_commit_is_the_one_with_the_greatest_number(lake: Lake, trial: Trial) -> None:
    trial.arrive([column(trial, 1)])
    trial.write_lake(1)
    trial.arrive([column(trial, 2)])
    trial.write_lake(1)
    set_last_commit_back(lake, 30)
    assert last_commit(lake.spark).commit == trial.last


def driver(lake: Lake, trial: Trial) -> LakeBatch:
    last = trial.last
    return LakeBatch(lake.spark, lake.settings.database_url, FUTURE_SKEW, 1, {}, lambda: last)


def test_of_two_drivers_that_write_the_same_batch_one_commits_its_events(lake: Lake, trial: Trial) -> None:
    trial.arrive([column(trial, 1), column(trial, 2)])
    first, second = driver(lake, trial), driver(lake, trial)
    late = second.prepare(trial.next_batch(2))
    first.write(trial.next_batch(2))
    second.append_states(late)
    with pytest.raises(Transient, match="Another process"):
        second.append_events(late)
    trial.restart()
    assert trial.events_in_lake() == trial.logged()
    assert len(as_told(trial.in_lake())) == 2


def test_a_driver_that_was_replaced_cannot_commit_a_later_batch_either(lake: Lake, trial: Trial) -> None:
    trial.arrive([column(trial, 1), column(trial, 2), column(trial, 3)])
    zombie = driver(lake, trial)
    late = zombie.prepare(trial.next_batch(1))
    trial.write_lake(1)
    trial.write_lake(1)
    with pytest.raises(Transient, match="Another process"):
        zombie.append_events(late)
    trial.write_lake(1)
    assert trial.events_in_lake() == trial.logged()


def test_a_driver_whose_lock_is_lost_does_not_commit_beside_its_successor(lake: Lake, trial: Trial) -> None:
    ledger = LakeLedger(lake.settings.database_url)
    zombie = driver(lake, trial)
    trial.arrive([column(trial, 1)])
    late = zombie.prepare(trial.next_batch(1))
    with pytest.raises(Transient):
        LakeLedger(lake.settings.database_url)
    with psycopg.connect(lake.owner, autocommit=True) as owner:
        owner.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lily-lake'")
    successor = LakeLedger(lake.settings.database_url)
    trial.write_lake(1)
    with pytest.raises(Transient, match="Another process"):
        zombie.append_events(late)
    with pytest.raises(psycopg.OperationalError):
        ledger.record(late.commit.number, 1, late.commit.next_offsets, advances="")
    successor.close()
    ledger.close()
    assert trial.events_in_lake() == trial.logged()


def test_maintenance_in_between_does_not_stop_the_writer(lake: Lake, trial: Trial) -> None:
    """Compaction and expiry make snapshots without numbers."""
    trial.arrive([column(trial, 1), column(trial, 2)])
    trial.write_lake(1)
    lake.spark.sql(f"call lake.system.rewrite_manifests('{tables.NAMESPACE}.{tables.EVENTS}')")
    lake.spark.sql(f"delete from {tables.identifier(tables.EVENTS)} where tenant = 'nobody'")  # noqa: S608
    trial.write_lake(1)
    assert trial.events_in_lake() == trial.logged()
