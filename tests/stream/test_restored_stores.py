"""The drill for backups: PostgreSQL or the lake is restored from an older state, and both agree again after a start."""

import shutil
import threading
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from lily.bus import topics
from lily.bus.offsets import Offsets
from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from lily.pipeline.lake.commits import last_commit
from lily.pipeline.lake.maintenance import maintain
from lily.pipeline.lake.query import LakeRun
from lily.pipeline.lake.restored import adopt_newest_metadata
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.offsets import LogOffsets
from lily.store.lake import tables
from lily.store.lake.catalog import warehouse
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.lake.commits import LakeLedger
from lily.store.postgres.propagation.propagator import Propagator
from tests import oracle
from tests.integration.test_convergence import comparable, stored
from tests.stream.conftest import Lake
from tests.stream.test_lake_convergence import new_trial
from tests.stream.test_lake_maintenance import NO_TIME
from tests.stream.trial import Trial

# PySpark leaves the socket of a collected result to the garbage collector.
pytestmark = [pytest.mark.campaign, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]

COLUMN = "shop.public.orders.email"
# What a backup of PostgreSQL has, as far as the lake is concerned.
BACKED_UP = ("iceberg_tables", "lake_batches", "lake_progress", "applied", "assets", "graph_nodes", "lake_parents")


class TrialLog(LogOffsets):
    """The log of a trial, which is not in Kafka."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial

    def ends(self, topics: Iterable[str]) -> Offsets:
        return {(topic, 0): self._trial.end(topic) for topic in topics}


class Drill:
    """The lake query of a process that starts again and again, and backups of both stores."""

    def __init__(self, lake: Lake, trial: Trial) -> None:
        self.lake, self.trial = lake, trial
        self._warehouse = Path(warehouse(lake.settings))

    def state(self, second: int, **data: object) -> AssetEvent:
        statement = read_statement({"qualified_name": COLUMN, **data}, tenant=self.trial.tenant)
        time = f"2026-01-01T00:00:{second:02d}.000000Z"
        return AssetEvent(str(uuid.uuid4()), time, self.trial.tenant, statement)

    def write(self, *events: AssetEvent) -> None:
        self.trial.arrive(events)
        self.trial.apply_hot(len(events))
        self.trial.write_lake(len(events))
        self.record()

    def record(self) -> None:
        with closing(LakeLedger(self.lake.settings.database_url)) as ledger:
            last = self.trial.last
            ledger.record(last.number, last.events, last.next_offsets, advances=topics.ASSETS_BULK)

    def start(self) -> None:
        """What the lake query does before its first batch, and between batches."""
        url, stack = self.lake.settings.database_url, ExitStack()
        with stack:
            ledger = stack.enter_context(closing(LakeLedger(url)))
            propagator = stack.enter_context(closing(Propagator(url)))
            adopt_newest_metadata(ledger, {})
            self.trial.restart()
            # The hot lane has read the log again.
            self.trial.store.apply(topics.ASSETS, {0: self.trial.end(topics.ASSETS)}, [], [])
            run = LakeRun(
                spark=self.lake.spark,
                settings=self.lake.settings,
                stop=threading.Event(),
                metrics=PipelineMetrics(),
                ledger=ledger,
                log=TrialLog(self.trial),
                store=self.trial.store,
                propagator=propagator,
            )
            run._recover()
            run._promote_between_batches()
        self.trial.restart()

    def back_up_postgres(self) -> None:
        with psycopg.connect(self.lake.owner) as owner:
            for table in BACKED_UP:
                owner.execute(
                    f"drop table if exists backup_{table}; create table backup_{table} as table {table}".encode()
                )

    def restore_postgres(self) -> None:
        with psycopg.connect(self.lake.owner) as owner:
            for table in BACKED_UP:
                columns = owner.execute(
                    "select string_agg(quote_ident(column_name), ', ') from information_schema.columns "
                    "where table_name = %s and is_generated = 'NEVER'",
                    [table],
                ).fetchall()[0][0]
                owner.execute(f"delete from {table}".encode())  # noqa: S608
                owner.execute(f"insert into {table} ({columns}) select {columns} from backup_{table}".encode())  # noqa: S608

    def back_up_lake(self) -> None:
        shutil.copytree(self._warehouse, self._warehouse.with_name("backup"))

    def restore_lake(self) -> None:
        shutil.rmtree(self._warehouse)
        self._warehouse.with_name("backup").rename(self._warehouse)

    def batches(self) -> tuple[int, int]:
        """The newest batch as PostgreSQL and as the lake have it."""
        with psycopg.connect(self.lake.owner) as owner:
            ((recorded,),) = owner.execute("select max(number) from lake_batches").fetchall()
        return recorded, last_commit(self.lake.spark).commit.number


@pytest.fixture
def drill(lake: Lake) -> Iterator[Drill]:
    store = CatalogueWriter(lake.settings.database_url)
    yield Drill(lake, new_trial(lake, store))
    store.close()


def test_a_restored_postgresql_gets_back_what_the_lake_has(drill: Drill) -> None:
    plain = drill.state(1, entity_type="column", attributes={"name": "email", "data_type": "text"})
    edit = drill.state(2, layer="user", attributes={"owner": "alice"})
    drill.write(plain, edit)
    drill.start()
    drill.back_up_postgres()
    later = [drill.state(at, entity_type="column", attributes={"name": "email", "rows": at}) for at in range(3, 5)]
    for event in later:
        drill.write(event)
    maintain(drill.lake.spark, NO_TIME)  # deletes the metadata and the snapshots that the backup names
    drill.restore_postgres()
    drill.start()
    recorded, committed = drill.batches()
    assert recorded == committed == drill.trial.last.number
    assert comparable(stored(drill.lake.owner, drill.trial.tenant)) == oracle.catalogue([plain, edit, *later])
    drill.write(drill.state(9, entity_type="column", attributes={"name": "email", "rows": 9}))
    assert drill.trial.events_in_lake() == drill.trial.logged()


def test_a_restored_postgresql_learns_again_what_the_lake_has_columns_of(drill: Drill) -> None:
    drill.write(drill.state(1, entity_type="column", attributes={"name": "email"}))
    drill.back_up_postgres()
    items = {"qualified_name": "shop.public.items.sku", "attributes": {"name": "sku"}}
    drill.write(drill.state(2, entity_type="column", **items))
    drill.restore_postgres()
    drill.start()
    drill.trial.arrive([drill.state(3, entity_type="table", **items)])
    drill.trial.arrive([drill.state(3, entity_type="table", qualified_name="shop.private.x", attributes={"name": "x"})])
    drill.trial.apply_hot(2)
    with psycopg.connect(drill.lake.owner) as owner:
        asked = (
            'select qualified_name, awaits_lake from assets where tenant_id = %s and source @> \'{"$type": "table"}\''
        )
        found: dict[str, bool] = dict(owner.execute(asked, [drill.trial.tenant]).fetchall())
    assert found == {"shop.public.items.sku": True, "shop.private.x": False}
    drill.trial.settle()
    drill.record()


def test_a_restored_lake_reads_the_log_again(drill: Drill) -> None:
    events = [drill.state(at, entity_type="column", attributes={"name": "email", "rows": at}) for at in range(1, 5)]
    drill.write(events[0])
    drill.back_up_lake()
    for event in events[1:]:
        drill.write(event)
    drill.restore_lake()
    drill.start()
    recorded, committed = drill.batches()
    assert recorded == committed
    with psycopg.connect(drill.lake.owner) as owner:
        applied = owner.execute("select next_offset from applied where topic = %s", [topics.ASSETS_BULK]).fetchall()
    assert applied == [(drill.trial.last.next_offsets[topics.ASSETS_BULK, 0],)]
    drill.trial.settle()
    drill.record()
    assert drill.trial.events_in_lake() == drill.trial.logged()
    assert drill.lake.spark.table(tables.identifier(tables.EVENTS)).where("batch > 0").count() > 0
