"""Where a dead letter goes when it is tried again, and what it needs."""

import orjson
import pytest

from lily.api.ingest.replay import carried_scopes, topic_of
from lily.bus import topics
from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.statements import Statement
from lily.store.postgres.dead_letters.records import Replayable


def original(**attributes: object) -> bytes:
    statement = Statement("source", "upsert", "shop.orders.id", "column", {"name": "id", **attributes})
    return orjson.dumps(AssetEvent(ids.event_id(), "2026-01-01T00:00:00.000000Z", "t", statement).as_cloudevent())


def replayed(topic: str, value: bytes | None) -> str:
    return topic_of(Replayable(1, topic, b"t/x", value))


def test_what_the_bulk_lane_should_hold_goes_back_to_it() -> None:
    assert replayed(topics.ASSETS_BULK, original()) == topics.ASSETS_BULK


def test_what_never_belonged_into_the_bulk_lane_goes_into_the_hot_one() -> None:
    assert replayed(topics.ASSETS_BULK, original(tags=["PII"])) == topics.ASSETS


def test_a_single_write_stays_hot_even_for_a_plain_column() -> None:
    assert replayed(topics.ASSETS, original()) == topics.ASSETS


@pytest.mark.parametrize("value", [None, b"", b"{ no json", b"\xff", b"[]", b"{}", b"7", b"[" * 5_000])
@pytest.mark.parametrize("topic", topics.OF_LANE.values())
def test_what_cannot_be_read_goes_back_where_it_came_from(topic: str, value: bytes | None) -> None:
    assert replayed(topic, value) == topic


QUERY = ["select 1", "", "trino", {}, "", True]


@pytest.mark.parametrize(
    ("data", "needed"),
    [
        ({}, set()),
        ({"authorised": True}, {"policy:write"}),
        ({"authorised": False}, set()),
        ({"tables": {"renamed": [["a", "b"]]}}, {"metadata:write"}),
        ({"tables": {"dropped": ["a"], "own_only": False}}, {"metadata:write"}),
        ({"tables": {"dropped": ["a"], "own_only": True}}, set()),
        ({"schemas": [["a", "etl", ["id"]]]}, {"metadata:write"}),
        ({"schemas": [["a", "etl", ["id"]]], "tables": {"own_only": True}}, set()),
        ({"query": QUERY}, {"metadata:read"}),
        ({"query": [*QUERY, None, False]}, set()),
        ({"query": QUERY, "tables": {"renamed": [["a", "b"]]}, "authorised": True},
         {"metadata:read", "metadata:write", "policy:write"}),
    ],
)  # fmt: skip
def test_it_needs_the_rights_that_its_event_carries_along(data: dict[str, object], needed: set[str]) -> None:
    assert carried_scopes(orjson.dumps({"data": data})) == needed


@pytest.mark.parametrize("value", [None, b"", b"{ no json", b"[]", b'{"data": 7}', b'{"data": {"query": 7}}'])
def test_what_cannot_be_read_is_refused_again_and_carries_nothing(value: bytes | None) -> None:
    assert carried_scopes(value) == set()
