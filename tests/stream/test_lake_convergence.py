"""PostgreSQL, the lake and the oracle agree after any interleaving of lanes, promotions and crashes."""

import uuid
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lily.model.columns import AssetRecord, ColumnsEvent, events_of
from lily.model.events import AssetEvent
from lily.model.lanes import lane_of
from lily.model.statements import read_statement
from lily.model.states import AssetState
from lily.pipeline.lake.compaction import compact, sizes
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.writer import CatalogueWriter
from tests import oracle
from tests.integration.test_convergence import comparable, stored, told
from tests.strategies import TIMES, attributes, events
from tests.stream.conftest import Lake
from tests.stream.trial import Trial

# PySpark leaves the socket of a collected result to the garbage collector.
pytestmark = [
    pytest.mark.campaign,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(600),
]

CRASHES = ["", "", "", "between the two writes", "after the two writes"]


@pytest.fixture(scope="module")
def store(lake: Lake) -> Iterator[CatalogueWriter]:
    store = CatalogueWriter(lake.settings.database_url)
    yield store
    store.close()


@st.composite
def columns(draw: st.DrawFn) -> AssetEvent:
    """A source's event about a column; most are plain and take the bulk lane."""
    stated = draw(attributes())
    if draw(st.booleans()):
        stated.pop("tags", None)
    if draw(st.booleans()):
        stated["parent"] = "shop.public"
    name = draw(st.sampled_from(["t0", "t1", "t2"]))
    data = {
        "entity_type": "column",
        "operation": draw(st.sampled_from(["upsert"] * 7 + ["delete"])),
        "qualified_name": f"shop.public.{name}",
        "attributes": {**stated, "name": name},
    }
    return AssetEvent(
        str(uuid.UUID(int=draw(st.integers(0, 2**128 - 1)))),
        draw(TIMES),
        "default",
        read_statement({**data, "authorised": draw(st.booleans())}, tenant="default"),
    )


@st.composite
def tables(draw: st.DrawFn) -> ColumnsEvent:
    """All columns of a table, stated at once."""
    stated = st.dictionaries(st.sampled_from(["owner", "description", "data_type"]), st.sampled_from(["a", "b"]))
    return ColumnsEvent(
        str(uuid.UUID(int=draw(st.integers(0, 2**128 - 1)))),
        draw(TIMES),
        "default",
        "shop.public",
        draw(st.dictionaries(st.sampled_from(["t0", "t1", "t2"]), stated, min_size=1)),
        authorised=draw(st.booleans()),
    )


def edits() -> st.SearchStrategy[AssetEvent]:
    """Events of people and rules about the same columns."""
    return events().filter(lambda event: event.statement.layer != "source")


def in_tenant(tenant: str, event: AssetRecord) -> AssetRecord:
    return replace(event, tenant=tenant)


def as_told(states: dict[tuple[str, str], AssetState]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (state.tenant, state.qualified_name): told(
            state.tenant,
            [state.layers[name].fields if name in state.layers else None for name in ("source", "enriched", "user")],
            state.first,
            state.last,
        )
        for state in states.values()
    }


def new_trial(lake: Lake, store: CatalogueWriter) -> Trial:
    tenant = f"t{uuid.uuid4().hex[:12]}"
    create_tenant(lake.owner, tenant)
    return Trial(lake, store, tenant)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    found=st.lists(columns() | tables() | edits(), min_size=2, max_size=14, unique_by=lambda event: event.id),
    random=st.randoms(use_true_random=False),
)
def test_after_any_interleaving_of_lanes_promotions_and_crashes_all_agree(
    lake: Lake, store: CatalogueWriter, found: list[AssetRecord], random: Random
) -> None:
    trial = new_trial(lake, store)
    mine = [in_tenant(trial.tenant, event) for event in found]
    arrivals = mine + random.sample(mine, random.randint(0, len(mine)))
    random.shuffle(arrivals)
    half = len(arrivals) // 2
    for part in (arrivals[:half], arrivals[half:]):
        trial.arrive(part)
        for step in random.sample(["hot", "lake"], 2):
            if step == "hot":
                trial.apply_hot(random.randint(0, 8))
            else:
                trial.write_lake(random.randint(1, 8), random.choice(CRASHES))
    trial.settle()
    single = [event for stated in mine for event in events_of(stated)]
    expected = oracle.catalogue(single)
    assert as_told(trial.in_lake()) == expected
    assert trial.events_in_lake() == trial.logged()
    hot = {(event.tenant, event.statement.qualified_name) for event in single if lane_of(event) == "hot"}
    assert comparable(stored(lake.owner, trial.tenant)) == {name: expected[name] for name in hot}
    with psycopg.connect(lake.owner) as connection:
        awaiting = connection.execute("select count(*) from assets where awaits_lake").fetchone()
    assert awaiting == (0,)


def test_compaction_merges_rows_and_changes_no_state(lake: Lake, store: CatalogueWriter) -> None:
    trial = new_trial(lake, store)
    stated = {"entity_type": "column", "qualified_name": "shop.public.orders.id"}
    for number in range(5):
        plain = {**stated, "attributes": {"name": "id", f"field{number % 3}": number}}
        other = {**stated, "qualified_name": f"shop.public.orders.c{number}", "attributes": {"name": f"c{number}"}}
        time = f"2026-01-01T00:00:0{number}.000000Z"
        trial.arrive(
            [
                AssetEvent(
                    str(uuid.uuid4()),
                    time,
                    trial.tenant,
                    read_statement({**data, "authorised": True}, tenant=trial.tenant),
                )
                for data in (plain, other)
            ]
        )
        trial.write_lake(10)
    before = as_told(trial.in_lake())
    compact(lake.spark, sorted(sizes(lake.spark)))
    assert len(sizes(lake.spark)) == 1
    assert as_told(trial.in_lake()) == before
    rows = lake.spark.table("lake.lily.assets").where(f"tenant = '{trial.tenant}'").count()
    assert rows == len(before) == 6


def test_the_query_continues_at_the_newest_commit_of_events(lake: Lake, store: CatalogueWriter) -> None:
    trial = new_trial(lake, store)
    data = {"entity_type": "column", "qualified_name": "shop.public.orders.id", "attributes": {"name": "id"}}
    event = AssetEvent(
        str(uuid.uuid4()),
        "2026-01-01T00:00:00.000000Z",
        trial.tenant,
        read_statement({**data, "authorised": True}, tenant=trial.tenant),
    )
    number = trial.last.number
    trial.arrive([event])
    trial.write_lake(10, "between the two writes")
    assert trial.last.number == number
    trial.write_lake(10, "after the two writes")
    assert trial.last.number == number + 1
    assert trial.events_in_lake() == trial.logged()
