"""The search over both stores (`tests/both_stores_machine.py`), with a lake that Spark writes, commits and compacts."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import psycopg
import pytest

from lily.embedded.bootstrap import url_for_role
from lily.embedded.state import load
from lily.model.envelopes import FUTURE_SKEW
from lily.model.records import Record
from lily.pipeline.lake.batch import LakeBatch
from lily.pipeline.lake.commits import last_commit
from lily.pipeline.lake.compaction import compact, sizes
from lily.pipeline.lake.iceberg import LakeTable
from lily.pipeline.lake.lookups import LakeLookups
from lily.store.lake import tables
from lily.store.lake.reader import LakeReader, LakeSnapshot
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.outbox.batches import Outbox
from lily.store.postgres.propagation.propagator import Propagator
from tests.both_stores import KEY, BothStores, Parts, Reads
from tests.both_stores_machine import WithAndWithoutAuthority, WithoutAuthority
from tests.lineage_world import World
from tests.postgres.decided_tags import DecidedTags
from tests.postgres.test_held_stateful import run
from tests.shared_stack import Stack
from tests.stream.conftest import Lake
from tests.task_lake import as_arrow

# PySpark leaves the socket of a collected result to the garbage collector.
pytestmark = [
    pytest.mark.campaign,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(1800),
]


class SparkLake:
    def __init__(self, lake: Lake) -> None:
        self._spark, self._last = lake.spark, last_commit(lake.spark).commit
        self.lookups = LakeLookups(lake.spark, {})
        url = lake.settings.database_url
        self._batch = LakeBatch(lake.spark, url, FUTURE_SKEW, 1, {}, lambda: self._last, lambda: [KEY])
        self._tables = {name: LakeTable(lake.spark, name) for name in (tables.ASSETS, tables.EVENTS)}

    def reader(self) -> LakeReader:
        async def locate() -> LakeSnapshot:
            return LakeSnapshot({name: table.metadata_location() for name, table in self._tables.items()})

        return LakeReader(locate)

    def write(self, records: Sequence[Record], *, crash: bool = False) -> None:
        prepared = self._batch.prepare(self._spark.createDataFrame(as_arrow(records)))
        self._batch.append_states(prepared)
        if not crash:
            self._batch.append_events(prepared)
            self._last = prepared.commit

    def compact(self) -> None:
        compact(self._spark, sorted(sizes(self._spark)))


@pytest.fixture(scope="module")
def api_url(stack: Stack, lake: Lake) -> str:
    return url_for_role(lake.owner, "lily_api", load(stack.data_dir).passwords["lily_api"])


@pytest.fixture(scope="module")
def decided(api_url: str) -> Iterator[DecidedTags]:
    with closing(DecidedTags(api_url)) as found:
        yield found


@pytest.fixture(scope="module")
def make_stores(lake: Lake, api_url: str) -> Iterator[Callable[[], BothStores]]:
    url = lake.settings.database_url
    with (
        psycopg.connect(lake.owner, autocommit=True) as owner,
        closing(CatalogueWriter(url)) as store,
        closing(Propagator(url)) as propagator,
        closing(Outbox(url)) as outbox,
        closing(Reads(api_url)) as reads,
    ):
        parts = Parts(store, propagator, outbox, owner, reads)

        def make() -> BothStores:
            tenant = f"t{uuid.uuid4().hex[:12]}"
            create_tenant(lake.owner, tenant)
            World(tenant, store, propagator, owner).define("secret", stopped_by_masking=True)
            return BothStores(tenant, parts, SparkLake(lake))

        yield make


def test_without_authority_no_asset_of_either_store_loses_a_protective_tag(
    make_stores: Callable[[], BothStores], decided: DecidedTags
) -> None:
    run(lambda: WithoutAuthority(make_stores(), decided), 8, 25)


def test_with_or_without_authority_both_stores_add_up_to_what_the_rules_say(
    make_stores: Callable[[], BothStores],
) -> None:
    run(lambda: WithAndWithoutAuthority(make_stores()), 8, 30)
