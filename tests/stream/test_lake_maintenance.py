"""Maintenance of the lake reduces files and snapshots, and keeps the data and the last commit."""

import os
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from lily.pipeline.lake.commits import last_commit
from lily.pipeline.lake.maintenance import maintain
from lily.store.lake import tables
from lily.store.lake.catalog import warehouse
from lily.store.postgres.catalogue.writer import CatalogueWriter
from tests.stream.conftest import Lake
from tests.stream.test_lake_convergence import as_told, new_trial
from tests.stream.trial import Trial

# PySpark leaves the socket of a collected result to the garbage collector.
pytestmark = [pytest.mark.campaign, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]

BATCHES = 9
NO_TIME = timedelta(0)


@pytest.fixture
def trial(lake: Lake) -> Iterator[Trial]:
    store = CatalogueWriter(lake.settings.database_url)
    yield new_trial(lake, store)
    store.close()


def write_small_batches(trial: Trial, count: int) -> None:
    """One column after the other of the same table, so all are in one partition."""
    for number in range(count):
        data = {
            "entity_type": "column",
            "qualified_name": f"shop.public.orders.c{number}",
            "attributes": {"name": f"c{number}"},
        }
        statement = read_statement({**data, "authorised": True}, tenant=trial.tenant)
        trial.arrive([AssetEvent(str(uuid.uuid4()), f"2026-01-01T00:00:0{number}.000000Z", trial.tenant, statement)])
        trial.write_lake(1)


def files(trial: Trial, table: str) -> int:
    found = trial.lake.spark.table(f"{tables.identifier(table)}.files")
    return int(found.where(f"partition.tenant = '{trial.tenant}'").count())


def snapshots(trial: Trial, table: str) -> int:
    return int(trial.lake.spark.table(f"{tables.identifier(table)}.snapshots").count())


def test_small_files_are_merged_and_old_snapshots_expire_but_the_data_and_the_last_commit_stay(trial: Trial) -> None:
    write_small_batches(trial, BATCHES)
    assert files(trial, tables.EVENTS) == BATCHES
    before = as_told(trial.in_lake())
    for _ in range(2):
        maintain(trial.lake.spark, NO_TIME)
        assert files(trial, tables.EVENTS) == 1
        assert max(snapshots(trial, tables.EVENTS), snapshots(trial, tables.ASSETS)) < BATCHES
        assert last_commit(trial.lake.spark).commit == trial.last
    assert trial.events_in_lake() == trial.logged()
    assert as_told(trial.in_lake()) == before
    write_small_batches(trial, 1)
    assert trial.events_in_lake() == trial.logged()


def test_snapshots_are_kept_for_the_given_time(trial: Trial) -> None:
    write_small_batches(trial, 3)
    known = snapshots(trial, tables.EVENTS)
    maintain(trial.lake.spark, timedelta(hours=1))
    assert snapshots(trial, tables.EVENTS) >= known


@pytest.mark.parametrize("table", [tables.EVENTS, tables.ASSETS])
def test_an_orphan_file_is_deleted_once_it_is_older_than_any_running_batch(trial: Trial, table: str) -> None:
    write_small_batches(trial, 1)
    folder = Path(warehouse(trial.lake.settings)) / tables.NAMESPACE / table / "data"
    lost, fresh = folder / "lost.parquet", folder / "fresh.parquet"
    for file in (lost, fresh):
        file.write_bytes(b"left by a batch that died")
    two_days_ago = time.time() - timedelta(days=2).total_seconds()
    os.utime(lost, (two_days_ago, two_days_ago))
    maintain(trial.lake.spark, NO_TIME)
    assert not lost.exists()
    assert fresh.exists()
    fresh.unlink()
    assert trial.events_in_lake() == trial.logged()
