"""What the pipeline refuses: shown with its cause, and tried again on request."""

import time
from typing import Any

import pytest
from confluent_kafka import Producer

from lily.bus import topics
from lily.model import ids
from tests.contract.door import Door

AUTHORISED = b'{"data":{"by":"ann","authorised":true}}'
ESCAPED = rb'{"data":{"\u0061uthorised": true}}'  # as nothing of Lily writes it


def append_raw(door: Door, value: bytes, key: bytes | None = None, topic: str = topics.ASSETS) -> None:
    """Past the door, as only something that writes to the log itself could."""
    producer = Producer(door.stack.kafka.client)
    producer.produce(topic, value, key or topics.key_of(door.tenant, ids.asset_id(door.tenant, "x")))
    assert producer.flush(30) == 0


def letters(door: Door, at_least: int, **parameters: Any) -> list[dict[str, Any]]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        items: list[dict[str, Any]] = door.http.get("/dead-letters", params=parameters).json()["items"]
        if len(items) >= at_least:
            return items
        time.sleep(0.1)
    raise AssertionError(f"{len(items)} dead letters, not {at_least}")


def test_a_refused_event_is_shown_with_its_cause_and_its_bytes(door: Door, other_door: Door) -> None:
    append_raw(door, b"{ no json")
    (letter,) = letters(door, 1)
    assert letter["topic"] == topics.ASSETS
    assert letter["errors"][0]["code"]
    assert (letter["original"], letter["encoding"], letter["truncated"]) == ("{ no json", "text", False)
    assert letter["replayed_at"] is None
    assert other_door.http.get("/dead-letters").json()["items"] == []


def test_bytes_that_are_no_text_are_shown_in_base64(door: Door) -> None:
    append_raw(door, b"\xff\xfe")
    assert [(letter["original"], letter["encoding"]) for letter in letters(door, 1)] == [("//4=", "base64")]


def test_a_long_original_is_shown_in_part(door: Door) -> None:
    append_raw(door, b"x" * 100_000)
    (letter,) = letters(door, 1)
    assert letter["truncated"] is True
    assert len(letter["original"]) < 100_000


def test_a_named_letter_is_replayed_and_marked(door: Door) -> None:
    append_raw(door, b"first")
    (letter,) = letters(door, 1)
    answer = door.http.post("/dead-letters/replay", json={"ids": [letter["id"], 10**15]})
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"replayed": 1, "missing": [10**15], "denied": []}
    again = letters(door, 2)
    assert [item["original"] for item in again] == ["first", "first"]
    assert [item["replayed_at"] is None for item in again] == [True, False]


def test_all_replays_what_was_never_replayed(door: Door) -> None:
    for value in (b"one", b"two", b"three"):
        append_raw(door, value)
    letters(door, 3)
    replayed = door.http.post("/dead-letters/replay", json={"all": True})
    assert replayed.json() == {"replayed": 3, "missing": [], "denied": []}


def test_another_tenants_letter_cannot_be_replayed(door: Door, other_door: Door) -> None:
    append_raw(door, b"mine")
    (letter,) = letters(door, 1)
    answer = other_door.http.post("/dead-letters/replay", json={"ids": [letter["id"]]})
    assert answer.json() == {"replayed": 0, "missing": [letter["id"]], "denied": []}
    assert other_door.http.post("/dead-letters/replay", json={"all": True}).json()["replayed"] == 0


@pytest.mark.parametrize(
    ("topic", "original", "needed"),
    [
        (topics.ASSETS, b"{}", {"metadata:write"}),
        (topics.LINEAGE_INTAKE, b"{}", {"lineage:write"}),
        (topics.ASSETS, AUTHORISED, {"metadata:write", "policy:write"}),
        (topics.LINEAGE_INTAKE, AUTHORISED, {"lineage:write", "policy:write"}),
        (topics.ASSETS, ESCAPED, {"metadata:write", "policy:write"}),
    ],
)
def test_a_replay_needs_the_scopes_of_what_is_replayed(
    door: Door, topic: str, original: bytes, needed: set[str]
) -> None:
    append_raw(door, original, topic=topic)
    (letter,) = letters(door, 1)
    for lacking in sorted(needed):
        with door.limited(*({"metadata:write", "lineage:write", "policy:write"} - {lacking})) as limited:
            refused = limited.http.post("/dead-letters/replay", json={"ids": [letter["id"]]})
            is_denied = refused.json() == {"replayed": 0, "missing": [], "denied": [letter["id"]]}
            assert (refused.status_code == 403 and lacking in refused.text) or (is_denied and original == ESCAPED)
            assert limited.http.post("/dead-letters/replay", json={"all": True}).json()["replayed"] == 0
    with door.limited(*needed) as permitted:
        assert permitted.http.post("/dead-letters/replay", json={"ids": [letter["id"]]}).json()["replayed"] == 1


def test_letters_come_in_pages(door: Door) -> None:
    for number in range(5):
        append_raw(door, f"no {number}".encode())
    whole = letters(door, 5)
    first = door.http.get("/dead-letters", params={"limit": 3}).json()
    second = door.http.get("/dead-letters", params={"limit": 3, "cursor": first["next_cursor"]}).json()
    assert first["items"] + second["items"] == whole
    assert second["next_cursor"] is None
