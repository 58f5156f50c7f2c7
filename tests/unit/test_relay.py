"""What the relay sends: every change, in a size that Kafka takes."""

import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from confluent_kafka import KafkaError
from prometheus_client import CollectorRegistry

from lily.bus import topics
from lily.model.errors import Transient
from lily.reactions.relay import Relay, topic_ends
from lily.reactions.relay.change_events import (
    MAX_EVENT_BYTES,
    change_event,
    dead_letter_event,
    decision_event,
    edge_event,
    propagated_event,
    sendable,
)
from lily.reactions.relay.routing import outgoing
from lily.settings import Settings
from lily.store.postgres.outbox.batches import Change, Decision, EdgeChange, Outbox, Propagated

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
    sent = sendable(change_event(a_change({"name": "t"}, {"name": "t", "notes": large})))
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
    data = orjson.loads(sendable(dead_letter_event(letter)))["data"]
    assert (data["original_base64"], data["truncated"], data["offset"]) == (None, True, 5)


def an_edge_change(before: dict[str, bool] | None, *, deleted: bool = False, propagates: bool = True) -> EdgeChange:
    after = {"propagates": propagates, "masking": False, "is_deleted": deleted}
    causes = [{"id": "d", "time": "t", "correlation": "w1"}, {"id": "e", "time": "t", "correlation": "w2"}]
    return EdgeChange(9, "default", "f", "t", "used-in", before, after, causes, NOW)


def test_an_edge_is_created_updated_deleted_and_restored() -> None:
    there = {"propagates": True, "masking": False, "is_deleted": False}
    gone = there | {"is_deleted": True}
    told = [
        an_edge_change(None),
        an_edge_change(there, propagates=False),
        an_edge_change(there, deleted=True),
        an_edge_change(gone),
    ]
    events = [edge_event(change) for change in told]
    assert [event["data"]["change"] for event in events] == ["created", "updated", "deleted", "restored"]
    assert {event["id"] for event in events} == {"change-9"}


def test_what_propagation_reached_goes_out_with_its_root() -> None:
    event = propagated_event(Propagated(4, "default", "pii", "added", "root", ["a", "b"], NOW))
    assert (event["id"], event["type"], event["subject"]) == ("change-4", "lily.tags.propagated", "root")
    assert event["data"] == {"tag": "pii", "change": "added", "root": "root", "assets": ["a", "b"], "position": 4}
    large = propagated_event(Propagated(4, "default", "pii", "added", "root", ["x" * 36] * 100_000, NOW))
    assert orjson.loads(sendable(large))["data"]["assets"] is None


def test_a_decision_goes_out_with_who_made_it() -> None:
    decision = Decision(5, "default", "tag", "Secrét", None, {"propagates": True}, "alice", NOW)
    assert decision_event(decision)["data"]["by"] == "alice"


class OneBatch(Outbox):
    """An outbox with one batch: of these changes, or of what is in Kafka's hands already."""

    def __init__(self, *changes: Change) -> None:
        self.marked: list[list[int]] = []
        self._changes = changes

    def unpublished(self, limit: int) -> list[int]:
        return [1][:limit]

    def rule_attributes(self) -> dict[str, frozenset[str]]:
        return {}

    def subscribed_changes(self) -> dict[str, frozenset[str]]:
        return {}

    def dead_letters(self, _: list[int]) -> Iterator[dict[str, Any]]:
        return iter(())

    def mark_published(self, batches: list[int], _: Mapping[str, Mapping[str, int]]) -> None:
        self.marked.append(batches)

    def _stream(self, name: str, *_: Any) -> Iterator[tuple[Any, ...]]:
        return iter(self._changes if name == "outbox/changes_of_batches" else ())


def test_the_record_of_a_change_names_what_was_taken_away_too() -> None:
    stated = {"$deleted": False, "owner": "ada"}
    outbox = OneBatch(a_change(stated | {"tags": {"pii": "PII"}, "$parent": "p"}, stated))
    metadata, governance = outgoing(outbox, [1])
    assert (metadata.topic, governance.topic) == (topics.METADATA, topics.GOVERNANCE)
    assert set(governance.event["changed"]) == {"tags", "$parent"}


def test_a_batch_of_which_kafka_refused_an_event_is_not_marked_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_ends, "PATIENCE_SECONDS", 0.1)
    relay, outbox = Relay(Settings(kafka_bootstrap="127.0.0.1:9"), threading.Event(), CollectorRegistry()), OneBatch()
    relay._delivered(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED), None)  # type: ignore[arg-type]
    with pytest.raises(Transient, match="Kafka did not confirm 1 events"):
        relay.publish(outbox)
    assert outbox.marked == []


def test_only_changes_that_a_subscription_names_have_a_record_for_it() -> None:
    def routed(*wanted: str, change: Change) -> list[dict[str, Any]]:
        outbox = OneBatch(change)
        outbox.subscribed_changes = lambda: {"default": frozenset(wanted)} if wanted else {}  # type: ignore[method-assign]
        return [one.event for one in outgoing(outbox, [1]) if one.topic == topics.SUBSCRIBED]

    stated = {"name": "t", "$type": "table", "$deleted": False}
    causes = [{"id": "e", "time": "t", "by": "crawler"}]
    updated = Change(7, "default", "id", "shop.t", "table", "source", 2, stated, stated | {"name": "u"}, causes, NOW)
    assert routed(change=updated) == []
    assert routed("deleted", "tagged", change=updated) == []
    (record,) = routed("updated", change=updated)
    assert (record["id"], record["asset"], record["change"], record["changed"]) == (
        "change-7",
        "id",
        "updated",
        ["name"],
    )
    assert record["by"] == "crawler"
    tagged = updated._replace(after=stated | {"name": "u", "tags": {"pii": "PII"}})
    assert routed("tagged", change=tagged)[0]["tags"] == {"added": ["PII"], "removed": []}
    promoted = tagged._replace(before=None, causes=[{"id": "e", "time": "t", "from": "lake"}])
    assert routed("tagged", "created", "updated", change=promoted) == []
