"""The hub: what a record of the change log becomes for those who listen, and where each of them can resume."""

import asyncio
from typing import Any

import orjson
from prometheus_client import Gauge

from lily.api.websocket.hub import Hub, Listener, Outgoing
from lily.api.websocket.messages import MessageFilter, unseal_position
from lily.brokers import Brokers
from lily.bus import topics
from lily.model.records import ConsumedRecord

CAUSE = {"tag": "PII", "origin": "root", "layer": "propagated"}


def announcement(offset: int, *assets: str, tenant: str = "north") -> ConsumedRecord:
    named = [[asset, "table", f"shop.{asset}"] for asset in assets]
    event = {"id": f"change-{offset}", "time": "t", "data": {"change": "tagged", "cause": CAUSE, "assets": named}}
    return ConsumedRecord(topics.NOTIFICATIONS, 0, offset, f"{tenant}/root".encode(), orjson.dumps(event))


def heard(wanted: MessageFilter, *records: ConsumedRecord) -> list[dict[str, Any]]:
    """The messages of a listener of the tenant `north` while the hub reads these records."""

    async def story() -> list[dict[str, Any]]:
        hub = Hub(Brokers(""), Gauge("followers", "", registry=None), 8)
        listener = Listener("north", wanted)
        with hub._joined(listener):
            await hub._deliver(list(records))
        return [orjson.loads(listener.queue.get_nowait().text) for _ in range(listener.queue.qsize())]

    return asyncio.run(story())


def next_offsets(messages: list[dict[str, Any]]) -> list[int]:
    return [unseal_position(message["position"]).get((topics.NOTIFICATIONS, 0), 0) for message in messages]


def test_only_the_last_message_of_an_announcement_resumes_after_it() -> None:
    messages = heard(MessageFilter(), announcement(6, "z"), announcement(7, "a", "b", "c"))
    assert [message["metadata_id"] for message in messages] == ["z", "a", "b", "c"]
    assert next_offsets(messages) == [7, 7, 7, 8]


def test_a_listener_resumes_after_what_it_did_not_want_or_may_not_hear() -> None:
    wanted = MessageFilter(assets=frozenset({"b"}))
    messages = heard(wanted, announcement(6, "a"), announcement(7, "b", tenant="south"), announcement(8, "b"))
    assert [message["id"] for message in messages] == ["change-8-b"]
    assert next_offsets(messages) == [9]


def test_a_listener_that_is_too_slow_is_known_to_be_and_misses_only_the_newest() -> None:
    async def story() -> tuple[list[str], bool]:
        listener = Listener("north", MessageFilter(), queue=asyncio.Queue(2))
        for text in "abc":
            assert not listener.overrun.is_set()
            listener.enqueue(Outgoing(text, ""))
        return [message.text for message in await listener.queued()], listener.overrun.is_set()

    assert asyncio.run(story()) == (["a", "b"], True)


def test_a_promotion_changes_nothing_that_a_listener_could_see() -> None:
    data = {"metadata_id": "a", "change": "promoted"}
    event = {"id": "change-6", "time": "t", "data": data}
    record = ConsumedRecord(topics.METADATA, 0, 6, b"north/a", orjson.dumps(event))
    assert heard(MessageFilter(), record) == []


def alert(offset: int, change: str, *assets: str) -> ConsumedRecord:
    incident = {"incident_id": "i", "severity": "critical", "state": "open", "title": "Late", "url": "https://x"}
    named = [[asset, "table", f"shop.{asset}"] for asset in assets]
    data = {"change": change, "root": "i", "incident": incident, "assets": named}
    event = {"id": f"change-{offset}", "time": "t", "data": data}
    return ConsumedRecord(topics.NOTIFICATIONS, 0, offset, b"north/i", orjson.dumps(event))


def test_an_incident_is_an_alert_for_each_of_its_assets() -> None:
    messages = heard(MessageFilter(), alert(6, "incident", "a", "b"), alert(7, "at_risk", "c"))
    shown = [(message["type"], message["change"], message["metadata_id"], message["severity"]) for message in messages]
    assert shown == [
        ("alert", "incident", "a", "critical"),
        ("alert", "incident", "b", "critical"),
        ("alert", "at_risk", "c", "critical"),
    ]
    assert messages[0] | {"position": ""} == {
        "type": "alert",
        "id": "change-6-a",
        "metadata_id": "a",
        "entity_type": "table",
        "qualified_name": "shop.a",
        "change": "incident",
        "incident_id": "i",
        "severity": "critical",
        "state": "open",
        "title": "Late",
        "url": "https://x",
        "timestamp": "t",
        "position": "",
    }


def test_an_incident_without_an_asset_is_one_alert() -> None:
    (message,) = heard(MessageFilter(changes=frozenset({"incident"})), alert(6, "incident"), alert(7, "clear", "a"))
    assert (message["metadata_id"], message["id"]) == (None, "change-6")
    assert not heard(MessageFilter(assets=frozenset({"a"})), alert(6, "incident"))
