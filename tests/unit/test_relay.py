"""What the relay sends: every change, in a size that Kafka takes."""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import orjson
import pytest
from confluent_kafka import KafkaError
from prometheus_client import CollectorRegistry

from lily.bus import topics
from lily.model import governance
from lily.model.changes import differing
from lily.model.clock import stamp
from lily.model.errors import Transient
from lily.model.events import read_event
from lily.reactions.relay import Relay, publisher, topic_ends
from lily.reactions.relay.change_events import (
    MAX_EVENT_BYTES,
    change_event,
    dead_letter_event,
    decision_event,
    edge_event,
    propagated_event,
    sendable,
    statement_event,
)
from lily.reactions.relay.routing import _EVENTS_OF, EDGES_TOGETHER, outgoing
from lily.settings import Settings
from lily.store.postgres.outbox.batches import Change, Decision, EdgeChange, Outbox, Propagated, RuleStatement
from lily.store.postgres.queries import query

NOW = datetime(2026, 11, 15, tzinfo=UTC)
RULED = {"layer": "enriched", "qualified_name": "shop.t", "attributes": {"owner": "ada"}}


def a_change(before: dict[str, Any] | None, after: dict[str, Any]) -> Change:
    causes = [{"id": "e1", "time": "t", "by": "alice", "correlation": "c1", "trace": "00-ab-cd-01"}]
    return Change(7, "default", "id", "shop.t", "table", "source", 2, before, after, causes, NOW)


def event_of(change: Change) -> dict[str, Any]:
    return change_event(change, differing(change.before, change.after))


def test_a_change_names_its_kind_its_differences_and_its_cause() -> None:
    after = {"name": "t", "owner": "bob", "tags": {"pii": "PII"}}
    event = event_of(a_change({"name": "t", "owner": "alice"}, after))
    assert event["id"] == "change-7"
    assert event["correlationid"] == "c1"
    assert event["traceparent"] == "00-ab-cd-01"
    assert event["data"]["change"] == "updated"
    assert event["data"]["changed"]["owner"] == {"from": "alice", "to": "bob"}
    assert event["data"]["tags"] == {"added": ["PII"], "removed": []}


def test_a_change_that_several_events_made_names_the_newest_write() -> None:
    change = a_change({"name": "s"}, {"name": "t"})
    first = {"id": "e0", "time": "s", "correlation": "c0", "trace": "00-ab-ce-01"}
    event = event_of(change._replace(causes=[first, *change.causes]))
    assert (event["correlationid"], event["traceparent"]) == ("c1", "00-ab-cd-01")


def test_a_change_that_is_too_large_says_what_changed_and_not_how() -> None:
    large = "x" * MAX_EVENT_BYTES
    sent = sendable(event_of(a_change({"name": "t"}, {"name": "t", "notes": large})))
    assert len(sent) < 2_000
    data = orjson.loads(sent)["data"]
    assert data["changed"] == {"notes": None}
    assert data["truncated"] is True


MANY = 40_000  # as many as a micro-batch has events: each may name others
HELD = {f"$held:{number:0128d}": f"{number:0128d}" for number in range(MANY)}
TAGGED = {f"{number:0128d}": f"{number:0128d}" for number in range(MANY)}
ATTRIBUTES = {f"{number:0256d}": "x" for number in range(MANY)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, {"tags": {"pii": "PII"}, **HELD}),
        ({"name": "t", "tags": {"pii": "PII"}}, {"name": "t", "tags": {"pii": "PII"}, **HELD}),
        ({"name": "t"}, {"name": "t", "tags": TAGGED}),
        ({"name": "t", "tags": TAGGED}, {"name": "t", "tags": {}}),
        ({"name": "t"}, {"name": "t", "tags": {"pii": "PII"}, **ATTRIBUTES}),
    ],
)
def test_whatever_one_batch_changes_of_an_asset_fits_into_records(
    unreachable: Relay, before: dict[str, Any] | None, after: dict[str, Any]
) -> None:
    """An event that Kafka cannot take would keep everything of every tenant from being published."""
    found = list(outgoing(Subscribed(a_change(before, after)), [1]))
    assert [one.topic for one in found] == [topics.METADATA, topics.GOVERNANCE, topics.SUBSCRIBED]
    for one in found:
        unreachable._produce(one)
        assert len(sendable(one.event)) <= MAX_EVENT_BYTES
    assert governance.concerns_tags(found[1].event["changed"])


def a_letter(original: bytes) -> dict[str, Any]:
    return {
        "id": 1,
        "tenant_id": "default",
        "topic": "asset-ingestion-events",
        "partition": 0,
        "offset": 5,
        "key": b"default/x",
        "original": original,
        "errors": [{"code": "MALFORMED_JSON", "description": "", "entity": ""}],
        "refused_at": NOW,
    }


def test_a_dead_letter_that_is_too_large_goes_without_its_original() -> None:
    data = orjson.loads(sendable(dead_letter_event(a_letter(b"x" * MAX_EVENT_BYTES))))["data"]
    assert (data["original_base64"], data["truncated"], data["offset"]) == (None, True, 5)


def an_edge_change(before: dict[str, bool] | None, *, deleted: bool = False, propagates: bool = True) -> EdgeChange:
    after = {"propagates": propagates, "masking": False, "is_deleted": deleted}
    causes = [{"id": "d", "time": "t", "correlation": "w1"}, {"id": "e", "time": "t", "correlation": "w2"}]
    return EdgeChange(9, "default", "f", "t", "used-in", before, after, causes, NOW)


class EdgesOnly:
    """An outbox with nothing but edges."""

    def __init__(self, edges: Sequence[EdgeChange]) -> None:
        self.edges = edges

    def __getattr__(self, name: str) -> Any:
        return {"tables": lambda _: {"edge_changes"}, "edge_changes": lambda _: iter(self.edges)}[name]


def test_reactions_are_told_of_several_edges_at_once_and_others_of_each() -> None:
    before = an_edge_change(None)
    edges = [before._replace(position=at, to_id=f"t{at}") for at in range(EDGES_TOGETHER + 1)]
    edges += [before._replace(position=100, tenant_id="other", to_id="x")]
    sent = list(outgoing(cast("Outbox", EdgesOnly(edges)), [1]))
    lineage = [(out.key, out.event["data"]["to"]) for out in sent if out.topic == topics.LINEAGE]
    assert lineage == [(topics.key_of(edge.tenant_id, edge.to_id), edge.to_id) for edge in edges]
    told = [out for out in sent if out.topic == topics.GOVERNANCE]
    assert [out.key for out in told] == [b"default/t0", f"default/t{EDGES_TOGETHER}".encode(), b"other/x"]
    records = [orjson.loads(sendable(out.event)) for out in told]
    assert [record["kind"] for record in records] == ["edges", "edge", "edge"]
    found = [edge for record in records for edge in governance.edges_of(record)]
    assert found == [governance.EdgeChanged("f", edge.to_id, edge.position, "w2") for edge in edges]


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


def test_of_two_statements_of_a_rule_with_one_time_the_later_is_the_newer() -> None:
    earlier, later = (
        read_event(statement_event(RuleStatement(position, "default", "id", body, NOW)), received=stamp(NOW))
        for position, body in ((9, RULED), (10, RULED))
    )
    assert earlier.clock < later.clock
    assert earlier.id == "rule-00000000000000000009"


def stored(change: Change) -> tuple[Any, ...]:
    """As the relay reads it."""
    return (
        *change[:9],
        orjson.dumps(change.causes).decode(),
        change.committed_at.isoformat(" ").removesuffix("+00:00"),
    )


class OneBatch(Outbox):
    """An outbox with one batch: of these changes, or of what is in Kafka's hands already."""

    def __init__(self, *changes: Change, letters: Sequence[dict[str, Any]] = ()) -> None:
        self.marked: list[list[int]] = []
        self._changes, self._letters = changes, letters

    def unpublished(self, limit: int) -> list[int]:
        return [1][:limit]

    def rule_attributes(self) -> dict[str, frozenset[str]]:
        return {}

    def subscribed_changes(self) -> dict[str, frozenset[str]]:
        return {}

    def tables(self, _: list[int]) -> frozenset[str]:
        return frozenset(
            name for name, rows in {"changes": self._changes, "dead_letters": self._letters}.items() if rows
        )

    def dead_letters(self, _: list[int]) -> Iterator[dict[str, Any]]:
        return iter(self._letters)

    def mark_published(self, batches: list[int], _: Mapping[str, Mapping[str, int]]) -> None:
        self.marked.append(batches)

    def _stream(self, name: str, *_: Any) -> Iterator[tuple[Any, ...]]:
        assert name == "outbox/changes_of_batches"
        return map(stored, self._changes)


class Subscribed(OneBatch):
    """The same, in a tenant with a subscription to every change."""

    def subscribed_changes(self) -> dict[str, frozenset[str]]:
        return {"default": frozenset({"created", "updated", "tagged", "untagged"})}


def test_the_record_of_a_change_has_the_attributes_that_rules_name_and_no_others() -> None:
    before, after = {"name": "s", "owner": "ada", "notes": "a"}, {"name": "t", "owner": "bob", "notes": "b"}
    outbox = OneBatch(a_change(before, after))
    outbox.rule_attributes = lambda: {"default": frozenset({"owner"})}  # type: ignore[method-assign]
    assert [one.event["changed"] for one in outgoing(outbox, [1]) if one.topic == topics.GOVERNANCE] == [["owner"]]


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


def test_each_table_that_batches_can_hold_is_published() -> None:
    assert re.findall(r"then '(\w+)' end", query("outbox/tables_of_batches")) == list(_EVENTS_OF)


def test_a_plain_change_that_is_too_large_goes_out_without_its_values() -> None:
    (sent,) = outgoing(OneBatch(a_change({"name": "t"}, {"name": "t", "notes": "x" * MAX_EVENT_BYTES})), [1])
    assert len(sent.value) < 2_000
    assert sent.event["data"]["truncated"] is True


def test_a_plain_change_of_what_a_rule_names_is_routed_and_one_that_is_subscribed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outbox = OneBatch(a_change({"owner": "ada"}, {"owner": "bob"}))
    assert [sent.topic for sent in outgoing(outbox, [1])] == [topics.METADATA]
    monkeypatch.setattr(outbox, "rule_attributes", lambda: {"default": frozenset({"owner"})})
    assert [sent.topic for sent in outgoing(outbox, [1])] == [topics.METADATA, topics.GOVERNANCE]
    monkeypatch.setattr(outbox, "subscribed_changes", lambda: {"default": frozenset({"updated"})})
    assert [sent.topic for sent in outgoing(outbox, [1])] == [topics.METADATA, topics.GOVERNANCE, topics.SUBSCRIBED]


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> Relay:
    """A relay whose Kafka does not answer."""
    monkeypatch.setattr(topic_ends, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(publisher, "_FLUSH_SECONDS", 0.1)
    return Relay(Settings(kafka_bootstrap="127.0.0.1:9"), threading.Event(), CollectorRegistry())


def test_a_batch_that_kafka_did_not_confirm_in_time_is_not_marked_as_published(unreachable: Relay) -> None:
    outbox = OneBatch(a_change({"name": "s"}, {"name": "t"}))
    with pytest.raises(Transient, match="Kafka did not confirm all events"):
        unreachable.publish(outbox)
    assert outbox.marked == []


def test_a_batch_is_marked_after_kafka_has_confirmed_it_and_not_before(
    unreachable: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of what the relay does: a crash after any step must repeat events, never lose one."""
    steps: list[str] = []
    outbox = OneBatch(a_change({"name": "s"}, {"name": "t"}))
    monkeypatch.setattr(outbox, "mark_published", lambda *_: steps.append("marked"))
    monkeypatch.setattr(unreachable, "_ends", type("Ends", (), {"after": lambda *_: steps.append("ends")})())
    monkeypatch.setattr(unreachable, "_produce", lambda _: steps.append("produced"))
    monkeypatch.setattr(unreachable, "_producer", type("Producer", (), {"flush": lambda *_: steps.append("flushed")})())
    assert unreachable.publish(outbox) == 1
    assert steps == ["flushed", "produced", "flushed", "ends", "marked"]  # first what is still in flight


def test_an_event_that_kafka_gave_up_counts_as_failed(unreachable: Relay) -> None:
    (event, *_) = outgoing(OneBatch(a_change({"name": "s"}, {"name": "t"})), [1])
    unreachable._produce(event)
    unreachable._producer.purge()
    unreachable._producer.flush(5)
    assert [error.name() for error in unreachable._failed] == ["_PURGE_QUEUE"]


def test_a_dead_letter_reaches_its_topic_with_the_cause_the_original_and_where_it_came_from() -> None:
    (sent,) = outgoing(OneBatch(letters=[a_letter(b"{")]), [1])
    assert (sent.topic, sent.key) == ("dead-letter-events", b"default/asset-ingestion-events")
    assert (sent.event["type"], sent.event["id"], sent.event["tenantid"]) == (
        "lily.event.refused",
        "dead-letter-1",
        "default",
    )
    assert sent.event["data"] == {
        "errors": [{"code": "MALFORMED_JSON", "description": "", "entity": ""}],
        "topic": "asset-ingestion-events",
        "partition": 0,
        "offset": 5,
        "key_base64": "ZGVmYXVsdC94",
        "original_base64": "ew==",
    }


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
