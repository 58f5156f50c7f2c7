"""Whatever is written without authority, in both lanes and in any order, no asset loses a protective tag; and what the
two stores add up to is what the plain rules say, with authority or without."""

import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest

from lily.pipeline.connections import CATALOGUES
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.outbox.batches import Outbox
from lily.store.postgres.propagation.propagator import Propagator
from tests.both_stores import KEY, BothStores, Parts, Reads
from tests.both_stores_histories import HISTORIES, WITH_AUTHORITY
from tests.both_stores_machine import WithAndWithoutAuthority, WithoutAuthority
from tests.lineage_world import World
from tests.postgres.decided_tags import DecidedTags
from tests.postgres.migrated import Migrated
from tests.postgres.test_held_stateful import run
from tests.task_lake import TaskLake


@pytest.fixture(scope="module")
def make_stores(migrated: Migrated, owner: psycopg.Connection) -> Iterator[Callable[[], BothStores]]:
    url = migrated.url_of("lily_pipeline")
    with (
        tempfile.TemporaryDirectory(prefix="lily-both-stores-") as directory,
        closing(CatalogueWriter(url)) as store,
        closing(Propagator(url)) as propagator,
        closing(Outbox(url)) as outbox,
        closing(Reads(migrated.url_of("lily_api"))) as reads,
        closing(CATALOGUES),
    ):
        parts = Parts(store, propagator, outbox, owner, reads)

        def make() -> BothStores:
            tenant = f"t{uuid.uuid4().hex[:12]}"
            create_tenant(migrated.owner, tenant)
            World(tenant, store, propagator, owner).define("secret", stopped_by_masking=True)
            return BothStores(tenant, parts, TaskLake(f"{directory}/{tenant}", url, KEY))

        yield make


@pytest.mark.parametrize("name", HISTORIES)
def test_no_asset_loses_a_protective_tag_when(
    make_stores: Callable[[], BothStores], decided: DecidedTags, name: str
) -> None:
    begin, history = HISTORIES[name]
    machine = WithoutAuthority(make_stores(), decided)
    machine.tables_columns_tags_and_edges(**begin)
    machine.no_asset_loses_a_protective_tag()
    for step, drawn in history:
        getattr(machine, step)(**drawn)
        machine.no_asset_loses_a_protective_tag()
    machine.teardown()


@pytest.mark.parametrize("name", WITH_AUTHORITY)
def test_with_authority_both_stores_add_up_when(make_stores: Callable[[], BothStores], name: str) -> None:
    machine = WithAndWithoutAuthority(make_stores())
    for step, drawn in WITH_AUTHORITY[name]:
        getattr(machine, step)(**drawn)
    machine.teardown()


@pytest.mark.timeout(400)
def test_without_authority_no_asset_of_either_store_loses_a_protective_tag(
    make_stores: Callable[[], BothStores], decided: DecidedTags
) -> None:
    run(lambda: WithoutAuthority(make_stores(), decided), 6, 20)


@pytest.mark.timeout(400)
def test_with_or_without_authority_both_stores_add_up_to_what_the_rules_say(
    make_stores: Callable[[], BothStores],
) -> None:
    run(lambda: WithAndWithoutAuthority(make_stores()), 6, 30)


@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_a_long_search_finds_no_history_in_which_a_protective_tag_is_lost(
    make_stores: Callable[[], BothStores], decided: DecidedTags
) -> None:
    run(lambda: WithoutAuthority(make_stores(), decided), 60, 40)


@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_a_long_search_finds_no_history_that_adds_up_to_anything_else(make_stores: Callable[[], BothStores]) -> None:
    run(lambda: WithAndWithoutAuthority(make_stores()), 120, 50)
