"""The rows of the outbox as events of the change log.

Headers tell a reader what an event is about, so that one who only has to know which asset or edge is concerned need not
read the event itself.
"""

import base64
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from lily.bus import topics
from lily.model import changes
from lily.model.clock import stamp
from lily.model.edges import EDGE_CHANGED
from lily.model.envelopes import SOURCE, SPEC_VERSION, Envelope, envelope
from lily.model.events import ASSET_CHANGED, ASSET_STATED
from lily.store.postgres.outbox.batches import Change, Decision, EdgeChange, Outbox, Propagated, RuleStatement

TAGS_PROPAGATED = "lily.tags.propagated"
DECISION_CHANGED = "lily.decision.changed"
MAX_EVENT_BYTES = 3 << 20  # the topics take 5 MiB, the producer sends 4, and a batch has an envelope of its own
_BULKY = ("original_base64", "assets")

Event = dict[str, Any]
Headers = list[tuple[str, str | bytes | None]]


class Outgoing(NamedTuple):
    topic: str
    key: bytes
    event: Event
    headers: Headers
    committed_at: datetime


def outgoing(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    """Everything that these batches have to tell, topic by topic, each in order of position."""
    for change in outbox.changes(batches):
        key = topics.key_of(change.tenant_id, change.asset_id)
        yield Outgoing(topics.METADATA, key, change_event(change), change_headers(change), change.committed_at)
    for edge in outbox.edge_changes(batches):
        key = topics.key_of(edge.tenant_id, edge.to_id)
        yield Outgoing(topics.LINEAGE, key, edge_event(edge), edge_headers(edge), edge.committed_at)
    for found in outbox.propagated(batches):
        key = topics.key_of(found.tenant_id, found.root)
        yield Outgoing(topics.PROPAGATED, key, propagated_event(found), _at(found.position), found.committed_at)
    for decision in outbox.decisions(batches):
        key = topics.key_of(decision.tenant_id, f"{decision.kind}/{decision.name}")
        headers = decision_headers(decision)
        yield Outgoing(topics.POLICIES, key, decision_event(decision), headers, decision.committed_at)
    for said in outbox.rule_statements(batches):
        key = topics.key_of(said.tenant_id, said.asset_id)
        yield Outgoing(topics.ASSETS, key, statement_event(said), [], said.committed_at)
    for letter in outbox.dead_letters(batches):
        key = topics.key_of(letter["tenant_id"], letter["topic"])
        yield Outgoing(topics.DEAD_LETTERS, key, dead_letter_event(letter), [], letter["refused_at"])


def change_event(change: Change) -> Event:
    data = {
        "metadata_id": change.asset_id,
        "entity_type": change.entity_type,
        "qualified_name": change.qualified_name,
        "layer": change.layer,
        "version": change.version,
        "change": changes.kind(change.before, change.after),
        "changed": changes.differences(change.before, change.after),
        "tags": changes.tag_changes(change.before, change.after),
        "causes": change.causes,
        "position": change.position,
    }
    return _event(change, ASSET_CHANGED, change.asset_id, data)


def change_headers(change: Change) -> Headers:
    """`changed` names the fields of the `layer` that differ, Lily's own included."""
    changed = _changed(change.before, change.after)
    return [*_cause(change), ("changed", changed), ("layer", change.layer.encode()), *_at(change.position)]


def edge_event(change: EdgeChange) -> Event:
    data = {
        "from": change.from_id,
        "to": change.to_id,
        "relationship_type": change.type,
        "change": _kind(change),
        "before": change.before,
        "after": change.after,
        "causes": change.causes,
        "position": change.position,
    }
    return _event(change, EDGE_CHANGED, change.to_id, data)


def edge_headers(change: EdgeChange) -> Headers:
    changed = _changed(change.before, change.after)
    return [*_cause(change), ("changed", changed), ("from", change.from_id.encode()), *_at(change.position)]


def propagated_event(found: Propagated) -> Event:
    data = {
        "tag": found.tag,
        "change": found.change,
        "root": found.root,
        "assets": found.assets,
        "position": found.position,
    }
    return _event(found, TAGS_PROPAGATED, found.root, data)


def decision_event(decision: Decision) -> Event:
    data = {
        "kind": decision.kind,
        "name": decision.name,
        "before": decision.before,
        "after": decision.after,
        "by": decision.by,
        "position": decision.position,
    }
    return _event(decision, DECISION_CHANGED, "", data)


def decision_headers(decision: Decision) -> Headers:
    return [*_at(decision.position), ("kind", decision.kind.encode()), ("name", decision.name.encode())]


def statement_event(said: RuleStatement) -> Event:
    """What a door would have made of it. The id follows from the position, so that a repeat merges to nothing; in fixed
    width, so that of two of one time the later one counts as the newer."""
    head = Envelope(f"rule-{said.position:020d}", stamp(said.committed_at), said.tenant_id)
    return envelope(ASSET_STATED, head, said.asset_id, said.body)


def dead_letter_event(letter: dict[str, Any]) -> Event:
    """The cause, the original bytes and where they came from."""
    return {
        "specversion": SPEC_VERSION,
        "id": f"dead-letter-{letter['id']}",
        "source": SOURCE,
        "type": "lily.event.refused",
        "time": stamp(letter["refused_at"]),
        "tenantid": letter["tenant_id"],
        "datacontenttype": "application/json",
        "data": {
            "errors": letter["errors"],
            "topic": letter["topic"],
            "partition": letter["partition"],
            "offset": letter["offset"],
            "key_base64": _encoded(letter["key"]),
            "original_base64": _encoded(letter["original"]),
        },
    }


def sendable(event: Event) -> bytes:
    """The event as bytes that Kafka takes. One that is too large says what changed and not how: the store has it."""
    value = orjson.dumps(event)
    if len(value) <= MAX_EVENT_BYTES:
        return value
    data: dict[str, Any] = event["data"] | {"truncated": True}
    if "changed" in data:
        data["changed"] = dict.fromkeys(data["changed"], None)
    return orjson.dumps(event | {"data": data | dict.fromkeys(data.keys() & set(_BULKY), None)})


def _event(row: Change | EdgeChange | Propagated | Decision, type_: str, subject: str, data: dict[str, Any]) -> Event:
    event: Event = {
        "specversion": SPEC_VERSION,
        "id": f"change-{row.position}",
        "source": SOURCE,
        "type": type_,
        "time": stamp(row.committed_at),
        "tenantid": row.tenant_id,
        "datacontenttype": "application/json",
        "data": data,
    }
    if subject:
        event["subject"] = subject
    newest = data["causes"][-1] if data.get("causes") else {}
    if "correlation" in newest:
        event["correlationid"] = newest["correlation"]
    if "trace" in newest:
        event["traceparent"] = newest["trace"]
    return event


def _kind(change: EdgeChange) -> str:
    was_there = change.before is not None and not change.before["is_deleted"]
    if change.after["is_deleted"]:
        return "deleted"
    if was_there:
        return "updated"
    return "created" if change.before is None else "restored"


def _changed(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> bytes:
    if before is None:
        return ",".join(after).encode()
    return ",".join([key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]).encode()


def _cause(change: Change | EdgeChange) -> Headers:
    """The write that it came from, the newest where there were several: a receipt is for a write."""
    correlation = change.causes[-1].get("correlation", "") if change.causes else ""
    return [("correlation", correlation.encode())] if correlation else []


def _at(position: int) -> Headers:
    return [("position", b"%d" % position)]


def _encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()
