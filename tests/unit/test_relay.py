"""What the relay sends: every change, in a size that Kafka takes."""

from datetime import UTC, datetime
from typing import Any

import orjson

from lily.relay import MAX_EVENT_BYTES, _sendable, change_event, dead_letter_event
from lily.store.postgres.outbox import Change

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def a_change(before: dict[str, Any] | None, after: dict[str, Any]) -> Change:
    causes = [{"id": "e1", "time": "t", "by": "alice", "correlation": "c1", "trace": "00-ab-cd-01"}]
    return Change(7, "default", "id", "shop.t", "table", "source", 2, before, after, causes, NOW)


def test_a_change_names_its_kind_its_differences_and_its_cause() -> None:
    after = {"name": "t", "owner": "bob", "tags": {"pii": "PII"}}
    event = change_event(a_change({"name": "t", "owner": "alice"}, after))
    assert event["id"] == "change-7"
    assert event["correlationid"] == "c1"
    assert event["traceparent"] == "00-ab-cd-01"
    assert event["data"]["change"] == "updated"
    assert event["data"]["changed"]["owner"] == {"from": "alice", "to": "bob"}
    assert event["data"]["tags"] == {"added": ["PII"], "removed": []}


def test_a_change_that_is_too_large_says_what_changed_and_not_how() -> None:
    large = "x" * MAX_EVENT_BYTES
    sent = _sendable(change_event(a_change({"name": "t"}, {"name": "t", "notes": large})))
    assert len(sent) < 2_000
    data = orjson.loads(sent)["data"]
    assert data["changed"] == {"notes": None}
    assert data["truncated"] is True


def test_a_dead_letter_that_is_too_large_goes_without_its_original() -> None:
    letter = {
        "id": 1,
        "tenant_id": "default",
        "topic": "asset-ingestion-events",
        "partition": 0,
        "offset": 5,
        "key": b"default/x",
        "original": b"x" * MAX_EVENT_BYTES,
        "errors": [{"code": "MALFORMED_JSON", "description": "", "entity": ""}],
        "refused_at": NOW,
    }
    data = orjson.loads(_sendable(dead_letter_event(letter)))["data"]
    assert (data["original_base64"], data["truncated"], data["offset"]) == (None, True, 5)
