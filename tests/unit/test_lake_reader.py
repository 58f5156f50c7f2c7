"""Reading the lake: pieces are merged, files are found, and no tenant sees another's rows."""

import asyncio
import random
import urllib.request
import uuid
from collections.abc import Coroutine, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import orjson
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto.server import ThreadedMotoServer
from pyiceberg.io import FileIO

from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.statements import read_statement
from lily.model.states import AssetState, merge_states
from lily.settings import S3
from lily.store.lake.asset_filter import AssetFilter
from lily.store.lake.buckets import bucket_of
from lily.store.lake.data_files import io_properties
from lily.store.lake.event_replay import replay_history, state_at
from lily.store.lake.parquet import ParquetFiles
from lily.store.lake.reader import LakeReader, LakeSnapshot, LakeUnavailable
from lily.store.lake.rows import states_to_batch
from lily.store.lake.scans import LakeEvent
from lily.store.lake.tables import ASSETS, id_prefix
from tests.strategies import events as any_events
from tests.warehouse import Warehouse

Result = TypeVar("Result")
MANY = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
EVENT_LISTS = st.lists(any_events("one"), max_size=12, unique_by=lambda event: event.id)
TENANTS = ("one", "two")
# The same names for both tenants, a few with each id prefix.
COLUMNS = [f"wh.sales.{table}.{column}" for table in ("orders", "items", "Größen") for column in ("id", "PRICE", "név")]


def run(what: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(asyncio.wait_for(what, 60))


def column(tenant: str, name: str, tick: int = 0, **attributes: Any) -> AssetEvent:
    parent, _, last = name.rpartition(".")
    stated = {"name": last, "parent": parent, "owner": tenant} | attributes
    data = {"layer": "source", "entity_type": "column", "qualified_name": name, "attributes": stated}
    time = f"2026-01-01T00:00:{tick:02}.000000Z"
    return AssetEvent(ids.event_id(), time, tenant, read_statement(data, tenant=tenant))


def states_of(events: Sequence[AssetEvent]) -> list[AssetState]:
    return list(merge_states(AssetState.of(event) for event in events).values())


def recorded(event: AssetEvent, offset: int, *, batch: int = 1, topic: str = "bulk") -> LakeEvent:
    received = f"2026-01-01T00:01:{offset:02}.000000Z"
    return LakeEvent(received, topic, 0, offset, batch, orjson.dumps(event.as_cloudevent()).decode())


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(str(tmp_path))


def names(states: Sequence[AssetState]) -> set[str]:
    return {state.qualified_name for state in states}


def test_a_lake_without_tables_is_empty(warehouse: Warehouse) -> None:
    async def story() -> None:
        lake = LakeReader(warehouse.locate)
        assert await lake.states("one", [ids.asset_id("one", "a.b.c")]) == {}
        assert await lake.children("one", ids.asset_id("one", "a.b"), "a.b") == []
        assert await lake.events("one", ids.asset_id("one", "a.b.c")) == []
        assert (await lake.search("one", AssetFilter(), start="", limit=10, seconds=1)).states == []

    run(story())


@MANY
@given(told=EVENT_LISTS, runs=st.integers(1, 4))
def test_merged_pieces_equal_the_state_of_all_events(
    tmp_path_factory: pytest.TempPathFactory, told: list[AssetEvent], runs: int
) -> None:
    warehouse = Warehouse(str(tmp_path_factory.mktemp("lake")))
    for number in range(runs):
        if events := told[number::runs]:
            warehouse.append_states(states_of(events), number)
    whole = merge_states(AssetState.of(event) for event in told)
    found = run(LakeReader(warehouse.locate).states("one", [asset_id for _, asset_id in whole]))
    assert found == {asset_id: state for (_, asset_id), state in whole.items()}


@MANY
@given(data=st.data())
def test_no_read_returns_another_tenants_row(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Files are selected by tenant; here one also holds rows of both tenants, which no writer produces."""
    warehouse = Warehouse(str(tmp_path_factory.mktemp("lake")), buckets=data.draw(st.integers(1, 4)))
    told = data.draw(st.lists(st.tuples(st.sampled_from(TENANTS), st.sampled_from(COLUMNS)), min_size=1, max_size=12))
    events = [column(tenant, name, tick) for tick, (tenant, name) in enumerate(told)]
    cut = data.draw(st.integers(0, len(events)))
    mixed = data.draw(st.booleans())
    for number, some in enumerate((events[:cut], events[cut:])):
        if some:
            rows = pa.Table.from_batches([states_to_batch(states_of(some), number)])
            warehouse.append_rows(ASSETS, rows, claimed_by=data.draw(st.sampled_from(TENANTS)) if mixed else None)
    mine = data.draw(st.sampled_from(TENANTS))
    anyone = st.sampled_from([ids.asset_id(tenant, name) for tenant in TENANTS for name in COLUMNS])
    noise = st.uuids().map(str) | st.sampled_from(["", "g", "0000", "' or 1=1"])
    asked = data.draw(st.lists(anyone | noise, max_size=6))
    parent = data.draw(st.sampled_from(["wh.sales.orders", "wh.sales.items", "wh"]))
    owner = data.draw(st.sampled_from(TENANTS))
    wanted = AssetFilter(
        terms=data.draw(st.none() | st.sampled_from([("or",), ("wh", "pr"), ("n",), ()])),
        owner=data.draw(st.none() | st.sampled_from(TENANTS)),
    )

    async def story() -> list[AssetState]:
        lake = LakeReader(warehouse.locate)
        found = list((await lake.states(mine, asked)).values())
        for named in (parent, None):
            for tenant in TENANTS:
                found += await lake.children(mine, ids.asset_id(tenant, parent), named)
        start = data.draw(st.sampled_from(["", *asked]))
        found += (await lake.search(mine, wanted, start=start, limit=50, seconds=9)).states
        found += (await lake.search(mine, AssetFilter(owner=owner), start="", limit=50, seconds=9)).states
        return found

    found = run(story())
    assert {state.tenant for state in found} <= {mine}
    assert {state.layers["source"].fields["owner"] for state in found} <= {mine}


def test_children_are_found_by_the_parents_name_or_by_its_id_alone(warehouse: Warehouse) -> None:
    for number in range(3):
        warehouse.append_states(states_of([column("one", name, number) for name in COLUMNS]), number)
    moved = column("one", "wh.sales.orders.id", 9, parent="wh.sales.other")
    warehouse.append_states(states_of([moved]), 9)

    async def story() -> None:
        lake = LakeReader(warehouse.locate)
        orders = ids.asset_id("one", "wh.sales.orders")
        by_name, by_id = await lake.children("one", orders, "wh.sales.orders"), await lake.children("one", orders, None)
        assert names(by_name) == names(by_id) == {"wh.sales.orders.PRICE", "wh.sales.orders.név"}

    run(story())


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (AssetFilter(), COLUMNS),
        (AssetFilter(terms=("ord", "pri")), ["wh.sales.orders.PRICE"]),
        (AssetFilter(terms=("rders",)), []),
        (AssetFilter(terms=("gröss", "név")), ["wh.sales.Größen.név"]),
        (AssetFilter(terms=()), []),
        (AssetFilter(entity_type="column", terms=("id",)), [name for name in COLUMNS if name.endswith(".id")]),
        (AssetFilter(entity_type="field"), []),
        (AssetFilter(owner="one", terms=("items",)), [name for name in COLUMNS if "items" in name]),
        (AssetFilter(owner="on"), []),
        (AssetFilter(data_source="w"), []),
    ],
)
def test_a_search_finds_exactly_what_matches_the_filter(
    warehouse: Warehouse, wanted: AssetFilter, expected: list[str]
) -> None:
    for number in range(2):
        warehouse.append_states(states_of([column("one", name, number) for name in COLUMNS]), number)

    async def story() -> None:
        found = await LakeReader(warehouse.locate).search("one", wanted, start="", limit=100, seconds=9)
        assert (names(found.states), found.next_start) == (set(expected), None)

    run(story())


def test_a_value_that_a_later_event_replaced_is_not_found(warehouse: Warehouse) -> None:
    warehouse.append_states(states_of([column("one", "a.b.c", 1, owner="then")]), 1)
    warehouse.append_states(states_of([column("one", "a.b.c", 2, owner="now")]), 2)

    async def story() -> None:
        lake = LakeReader(warehouse.locate)
        for owner, count in (("then", 0), ("now", 1)):
            assert (
                len((await lake.search("one", AssetFilter(owner=owner), start="", limit=9, seconds=9)).states) == count
            )

    run(story())


@pytest.mark.parametrize(("limit", "seconds"), [(1, 9.0), (3, 9.0), (50, 9.0), (3, 0.0)])
def test_the_pages_of_a_search_together_are_complete_and_ordered_by_bucket_and_id(
    warehouse: Warehouse, limit: int, seconds: float
) -> None:
    everything = [f"wh.s.t{table}.c{number}" for table in range(12) for number in range(4)]
    random.shuffle(everything)
    for number in range(4):
        warehouse.append_states(states_of([column("one", name, number) for name in everything[number::2]]), number)

    async def story() -> None:
        lake, found, start = LakeReader(warehouse.locate), list[str](), ""
        for _ in range(500):
            page = await lake.search("one", AssetFilter(), start=start, limit=limit, seconds=seconds)
            found += [state.id for state in page.states]
            if page.next_start is None:
                break
            assert place(page.next_start) > place(start)
            start = page.next_start
        assert found == sorted((ids.asset_id("one", name) for name in everything), key=place)

    def place(start: str) -> tuple[int, str]:
        return (bucket_of(2)(id_prefix(start)) if start else 0), start

    run(story())


def test_a_search_reads_only_the_groups_that_may_match(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = [f"wh.s.t{table}.c{number}" for table in range(40) for number in range(4)]
    warehouse.append_states(states_of([column("one", name) for name in everything]))
    opened, read = list[str](), ParquetFiles.read

    def counted(self: ParquetFiles, io: FileIO, path: str, *which: Any) -> pa.Table | None:
        opened.append(path)
        return read(self, io, path, *which)

    monkeypatch.setattr(ParquetFiles, "read", counted)

    async def story() -> None:
        lake = LakeReader(warehouse.locate)

        async def found(*terms: str) -> list[AssetState]:
            opened.clear()
            return (await lake.search("one", AssetFilter(terms=terms), start="", limit=9, seconds=9)).states

        assert [state.qualified_name for state in await found("t7", "c2")] == ["wh.s.t7.c2"]
        assert len(opened) > 10  # each group was read once, to index it
        assert [state.qualified_name for state in await found("t31", "c3")] == ["wh.s.t31.c3"]
        assert len(opened) == 1
        assert await found("nothing") == []
        assert opened == []
        warehouse.append_states(states_of([column("one", "wh.s.t7.nothing")]), 2)
        assert [state.qualified_name for state in await found("nothing")] == ["wh.s.t7.nothing"]

    run(story())


def test_a_read_after_a_commit_sees_it(warehouse: Warehouse) -> None:
    async def story() -> None:
        lake = LakeReader(warehouse.locate)
        asset_id = ids.asset_id("one", "a.b.c")
        for tick in range(3):
            warehouse.append_states(states_of([column("one", "a.b.c", tick, owner=f"o{tick}")]), tick)
            found = await lake.states("one", [asset_id])
            assert found[asset_id].layers["source"].fields["owner"] == f"o{tick}"

    run(story())


def test_concurrent_reads_share_one_query_of_the_catalog(warehouse: Warehouse) -> None:
    warehouse.append_states(states_of([column("one", name) for name in COLUMNS]))

    async def story() -> None:
        lake = LakeReader(warehouse.locate)
        found = await asyncio.gather(*(lake.states("one", [ids.asset_id("one", COLUMNS[0])]) for _ in range(50)))
        assert all(found)
        assert warehouse.questions <= 2

    run(story())


def test_a_read_is_repeated_if_compaction_removed_its_files(warehouse: Warehouse) -> None:
    events = [column("one", name) for name in COLUMNS]
    warehouse.append_states(states_of(events))
    stale = warehouse.located

    async def story() -> None:
        answers = [stale]

        async def locate() -> LakeSnapshot:
            return answers.pop(0) if answers else await warehouse.locate()

        lake = LakeReader(locate)
        warehouse.replace(ASSETS, pa.Table.from_batches([states_to_batch(states_of(events), 7)]))
        assert len(await lake.states("one", [event.asset_id for event in events])) == len(events)

    run(story())


def test_an_unreadable_warehouse_raises_an_error_that_says_what_to_do(warehouse: Warehouse) -> None:
    warehouse.append_states(states_of([column("one", "a.b.c")]))
    lost = LakeSnapshot({ASSETS: warehouse.located.metadata[ASSETS] + ".gone.metadata.json"})

    async def story() -> None:
        async def locate() -> LakeSnapshot:
            return lost

        with pytest.raises(LakeUnavailable, match="LILY_WAREHOUSE"):
            await LakeReader(locate).states("one", [ids.asset_id("one", "a.b.c")])

    run(story())


def test_a_past_state_is_made_of_the_events_recorded_by_then(warehouse: Warehouse) -> None:
    told = [column("one", "a.b.c", tick, owner=f"o{tick}") for tick in (1, 3, 2)]
    records = [recorded(event, offset, batch=offset) for offset, event in enumerate(told, start=1)]
    asset_id, other = told[0].asset_id, column("two", "a.b.c")
    warehouse.append_events("one", asset_id, records)
    # A record whose key and event disagree was refused, and so was what is no event at all.
    warehouse.append_events("one", asset_id, [recorded(other, 8), recorded(other, 9)._replace(event="[")])

    async def story() -> None:
        events = await LakeReader(warehouse.locate).events("one", asset_id)
        assert [event.offset for event in events] == [1, 2, 3, 8, 9]
        skew = timedelta(minutes=5)
        owners = []
        for batch in range(4):
            recorded_by_then = [event for event in events if event.batch <= batch and event.offset < 8]
            past = state_at("one", asset_id, recorded_by_then, lambda _: True, skew)
            owners.append(past and (past.state.layers["source"].fields["owner"], past.events))
        assert owners == [None, ("o1", 1), ("o3", 2), ("o3", 3)]
        changes = replay_history("one", asset_id, events, skew).changes
        assert [(step.position, step.version, step.after["owner"]) for step in changes] == [(1, 1, "o1"), (2, 2, "o3")]

    run(story())


@MANY
@given(told=EVENT_LISTS)
def test_replaying_all_events_gives_the_present_state(told: list[AssetEvent]) -> None:
    for (_, asset_id), state in merge_states(AssetState.of(event) for event in told).items():
        records = [recorded(event, number) for number, event in enumerate(told) if event.asset_id == asset_id]
        past = state_at("one", asset_id, records, lambda _: True, timedelta(minutes=5))
        assert past is not None
        assert past.state == state
        changes = replay_history("one", asset_id, records, timedelta(minutes=5)).changes
        last = {step.event.statement.layer: step.after for step in changes}
        assert last == {name: layer.fields for name, layer in state.layers.items() if layer.fields or name in last}


def test_text_that_is_not_an_id_finds_nothing(warehouse: Warehouse) -> None:
    warehouse.append_states(states_of([column("one", name) for name in COLUMNS]))
    assert run(LakeReader(warehouse.locate).states("one", [str(uuid.uuid4()), "zz", ""])) == {}


@pytest.fixture(scope="module")
def object_store() -> Iterator[dict[str, str]]:
    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    s3 = S3(endpoint=f"http://{host}:{port}", region="eu-central-1", access_key="key", secret_key="secret")
    properties = io_properties(s3)
    asked = urllib.request.Request(f"{s3.endpoint}/lake", method="PUT")  # noqa: S310 - the server of this test
    with urllib.request.urlopen(asked, timeout=10):  # noqa: S310
        pass
    yield properties
    server.stop()


def test_a_warehouse_may_be_an_object_store(object_store: dict[str, str]) -> None:
    warehouse = Warehouse("s3://lake/warehouse", properties=object_store)
    events = [column("one", name) for name in COLUMNS]
    warehouse.append_states(states_of(events))
    wanted = [event.asset_id for event in events]

    async def story() -> None:
        lake = LakeReader(warehouse.locate, object_store)
        assert names(list((await lake.states("one", wanted)).values())) == set(COLUMNS)
        warehouse.replace(ASSETS, pa.Table.from_batches([states_to_batch(states_of(events), 7)]))
        assert names(list((await lake.states("one", wanted)).values())) == set(COLUMNS)

    run(story())


def test_an_unreachable_object_store_raises_lake_unavailable() -> None:
    properties = io_properties(S3(endpoint="http://127.0.0.1:9", region="x", access_key="key", secret_key="secret"))

    async def story() -> None:
        async def locate() -> LakeSnapshot:
            return LakeSnapshot({ASSETS: "s3://lake/warehouse/assets/metadata/1.metadata.json"})

        with pytest.raises(LakeUnavailable):
            await LakeReader(locate, properties).states("one", [ids.asset_id("one", "a.b.c")])

    run(story())
