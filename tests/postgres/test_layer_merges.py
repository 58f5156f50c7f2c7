"""PostgreSQL merges every short history of a layer as the model does, with whichever statement it merges each step."""

import tracemalloc
from collections.abc import Callable
from functools import reduce
from itertools import count, product
from typing import Any

import psycopg
import pytest

from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.layers import Layer, merge
from lily.model.records import Record
from lily.model.releases import Release
from lily.model.statements import Statement
from tests.lineage_world import World

_offsets = count()
Histories = list[list[AssetEvent]]  # of one asset each
STATED: list[dict[str, Any]] = [
    {},
    {"tags": ["PII"]},
    {"tags": []},
    {"parent": "old"},
    {"parent": "new"},
    {"parent": None},
]

ENDING = (2, 4, 5, 6, 8, 9, 10, 12, 13)  # of the statements below: those by which something is held, or ends


def statements(tenant: str, name: str) -> list[Statement]:
    """What one event may say about an asset: with tags or without, below a parent or none, and what ends either."""
    upserts = [
        Statement("source", "upsert", name, "table", {"name": "t", **stated}, authorised=authorised)
        for stated in STATED
        for authorised in (False, True)
    ]
    releases = [Release("tag", "pii"), Release("parent", ids.asset_id(tenant, "old"))]
    return upserts + [
        Statement("source", "release", name, None, {}, authorised=True, release=release) for release in releases
    ]


def history(tenant: str, choice: tuple[int, ...]) -> list[AssetEvent]:
    """Of an asset of its own."""
    found = statements(tenant, f"db.t{'-'.join(map(str, choice))}")
    return [
        AssetEvent(ids.event_id(), f"2026-01-01T00:00:0{second}.000000Z", tenant, found[number])
        for second, number in enumerate(choice)
    ]


def feed(world: World, *events: AssetEvent) -> None:
    records = [(Record("layers", 0, next(_offsets), event.time, b"", b""), event) for event in events]
    world.store.apply("layers", {}, records, [])


def differences(owner: psycopg.Connection, world: World, histories: Histories) -> dict[str, tuple[Layer, Layer]]:
    asked = "select id::text, source, source_at, source_clocks from assets where tenant_id = %s"
    stored = {row[0]: Layer(*row[1:]) for row in owner.execute(asked, [world.tenant])}
    expected = {events[0].asset_id: reduce(merge, (event.layer() for event in events)) for events in histories}
    assert stored.keys() == expected.keys()
    return {asset: (stored[asset], layer) for asset, layer in expected.items() if stored[asset] != layer}


@pytest.mark.parametrize(
    "order", [(0, 1, 2), *(pytest.param(order, marks=pytest.mark.campaign) for order in ((1, 2, 0), (2, 0, 1)))]
)
def test_every_history_of_three_statements_is_merged_as_in_the_model(
    make_world: Callable[[], World], owner: psycopg.Connection, order: tuple[int, ...]
) -> None:
    world = make_world()
    histories = [history(world.tenant, choice) for choice in product(range(len(statements("t", "a"))), repeat=3)]
    for place in order:
        feed(world, *(events[place] for events in histories))
    assert differences(owner, world, histories) == {}


def test_a_statement_that_is_alone_in_its_batch_is_merged_as_in_the_model(
    make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    """Where a batch has a row that merge.sql leaves out, all that differ from what is stored are merged once more."""
    world = make_world()
    histories = [history(world.tenant, choice) for choice in product(ENDING, repeat=3)]
    for place in (0, 1):
        feed(world, *(events[place] for events in histories))
    for events in histories:
        feed(world, events[2])
    assert differences(owner, world, histories) == {}


def test_layers_are_merged_a_few_at_a_time(make_world: Callable[[], World]) -> None:
    """Small statements about many large assets do not fill the memory of the task."""
    world, parts = make_world(), [[number, {}] for number in range(1_500)]
    peaks = []
    for number in (25, 125):
        names = [f"db.t{number}-{one}" for one in range(number)]
        feed(world, *(stated(world, name, "00", parts=parts) for name in names))
        events = [stated(world, name, "01", owner="ada") for name in names]
        tracemalloc.start()
        feed(world, *events)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]


def stated(world: World, name: str, second: str, **attributes: object) -> AssetEvent:
    statement = Statement("source", "upsert", name, "table", {"name": "t", **attributes})
    return AssetEvent(ids.event_id(), f"2026-01-01T00:00:{second}.000000Z", world.tenant, statement)
