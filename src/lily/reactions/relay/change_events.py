"""The rows of the outbox as events: CloudEvents, one for each row."""

import base64
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson

from lily.incidents import INCIDENT_STATED
from lily.model import changes
from lily.model.clock import stamp
from lily.model.edges import EDGE_CHANGED
from lily.model.envelopes import cloud_event
from lily.model.events import ASSET_CHANGED, ASSET_STATED
from lily.notify.events import change_record, changes_of
from lily.store.postgres.outbox.batches import (
    Announcement,
    Change,
    Decision,
    EdgeChange,
    IncidentStatement,
    Propagated,
    RuleStatement,
)

TAGS_PROPAGATED = "lily.tags.propagated"
DECISION_CHANGED = "lily.decision.changed"
TAGS_ANNOUNCED = "lily.tags.announced"
INCIDENT_CHANGED = "lily.incident.changed"
RISK_CHANGED = "lily.risk.changed"
_ANNOUNCED = {"incident": INCIDENT_CHANGED, "at_risk": RISK_CHANGED, "clear": RISK_CHANGED}  # others are about tags
EVENT_REFUSED = "lily.event.refused"
MAX_EVENT_BYTES = 3 << 20  # the topics take 5 MiB, the producer sends 4, and a batch has an envelope of its own
MAX_NAMED = 1_000  # fields and tags that a shortened event names: a batch may state forty thousand of one asset
_BULKY = ("original_base64", "assets")

CloudEvent = dict[str, Any]
_committed = lru_cache(maxsize=64)(stamp)  # all rows of a batch have one time
OutboxRow = Change | EdgeChange | Propagated | Decision | Announcement


def change_event(change: Change, changed: Collection[str]) -> CloudEvent:
    """`changed` are the fields that differ."""
    described = changes.describe(change.before, change.after, change.causes, changed)
    data = {
        "metadata_id": change.asset_id,
        "entity_type": change.entity_type,
        "qualified_name": change.qualified_name,
        "layer": change.layer,
        "version": change.version,
        "change": described.kind,
        "changed": described.differences,
        "tags": described.tags,
        "causes": change.causes,
    }
    return _event(change, ASSET_CHANGED, change.asset_id, data)


def subscribed_record(event: CloudEvent, wanted: Collection[str]) -> dict[str, Any] | None:
    """The record of a change on `subscribed-changes`; None if it is not one of the wanted changes. Of very many fields
    and tags it names the first."""
    data = event["data"]
    if data["change"] == changes.PROMOTED or changes_of(data["change"], data["tags"]).isdisjoint(wanted):
        return None
    return change_record(
        event_id=event["id"],
        asset=data["metadata_id"],
        entity_type=data["entity_type"],
        qualified_name=data["qualified_name"],
        layer=data["layer"],
        change=data["change"],
        changed=sorted(data["changed"])[:MAX_NAMED],
        tags=_first_named(data["tags"]),
        by=data["causes"][-1].get("by", "") if data["causes"] else "",
        at=event["time"],
    )


def edge_event(change: EdgeChange) -> CloudEvent:
    data = {
        "from": change.from_id,
        "to": change.to_id,
        "relationship_type": change.type,
        "change": _kind(change),
        **_fields(change, "before", "after", "causes"),
    }
    return _event(change, EDGE_CHANGED, change.to_id, data)


def propagated_event(found: Propagated) -> CloudEvent:
    return _event(found, TAGS_PROPAGATED, found.root, _fields(found, "tag", "change", "root", "assets"))


def announcement_event(announcement: Announcement) -> CloudEvent:
    type_ = _ANNOUNCED.get(announcement.body["change"], TAGS_ANNOUNCED)
    return _event(announcement, type_, "", dict(announcement.body))


def decision_event(decision: Decision) -> CloudEvent:
    return _event(decision, DECISION_CHANGED, "", _fields(decision, "kind", "name", "before", "after", "by"))


def statement_event(said: RuleStatement) -> CloudEvent:
    """The statement as a write of the API would be. Its id follows from the position, so a repeat merges to nothing; in
    fixed width, so that of two statements with one time the later one is the newer."""
    return _stated(said, ASSET_STATED, "rule", said.asset_id, at=said.stated_at)


def incident_event(said: IncidentStatement) -> CloudEvent:
    """The statement as any source of incidents makes one. Its id follows from the position, so a repeat merges to
    nothing."""
    return _stated(said, INCIDENT_STATED, "quality")


def dead_letter_event(letter: dict[str, Any]) -> CloudEvent:
    """The cause, the original bytes and where they came from."""
    data = {name: letter[name] for name in ("errors", "topic", "partition", "offset")}
    return cloud_event(
        EVENT_REFUSED,
        event_id=f"dead-letter-{letter['id']}",
        time=stamp(letter["refused_at"]),
        tenant=letter["tenant_id"],
        data=data | {"key_base64": _encoded(letter["key"]), "original_base64": _encoded(letter["original"])},
    )


def sendable(event: CloudEvent) -> bytes:
    """The event as bytes that Kafka takes. One that is too large says what changed and not how, and of very many fields
    and tags only the first: the store has it."""
    value = orjson.dumps(event)
    if len(value) <= MAX_EVENT_BYTES:
        return value
    data: dict[str, Any] = event["data"] | {"truncated": True}
    if "changed" in data:
        data["changed"] = dict.fromkeys(sorted(data["changed"])[:MAX_NAMED], None)
    if "tags" in data:
        data["tags"] = _first_named(data["tags"])
    return orjson.dumps(event | {"data": data | dict.fromkeys(data.keys() & set(_BULKY), None)})


def _first_named(tags: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {moved: list(names[:MAX_NAMED]) for moved, names in tags.items()}


def _event(row: OutboxRow, type_: str, subject: str, data: dict[str, Any]) -> CloudEvent:
    """`position` is where the row stands in the order of all changes; the newest cause names the write."""
    causes = data.get("causes")
    newest = causes[-1] if causes else {}
    data["position"] = row.position
    return cloud_event(
        type_,
        event_id=f"change-{row.position}",
        time=_committed(row.committed_at),
        tenant=row.tenant_id,
        subject=subject,
        data=data,
        correlation=newest.get("correlation", ""),
        trace=newest.get("trace", ""),
    )


def _stated(
    said: RuleStatement | IncidentStatement, type_: str, by: str, subject: str = "", *, at: datetime | None = None
) -> CloudEvent:
    """A statement that Lily itself makes, as any other source would; at the time of its commit if there is no other."""
    return cloud_event(
        type_,
        event_id=f"{by}-{said.position:020d}",
        time=stamp(at or said.committed_at),
        tenant=said.tenant_id,
        subject=subject,
        data=said.body,
    )


def _fields(row: OutboxRow, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _kind(change: EdgeChange) -> str:
    was_there = change.before is not None and not change.before["is_deleted"]
    if change.after["is_deleted"]:
        return "deleted"
    if was_there:
        return "updated"
    return "created" if change.before is None else "restored"


def _encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()
