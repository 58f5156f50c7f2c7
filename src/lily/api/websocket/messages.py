"""Change events of the log as WebSocket messages, and the filters of listeners."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import orjson
from pydantic import Field, TypeAdapter

from lily.api.http import sealed
from lily.api.reads.entity_types import known_type
from lily.bus import topics
from lily.bus.offsets import Offsets
from lily.model import ids
from lily.model.assets import tag_key
from lily.model.changes import KINDS, PROMOTED
from lily.model.errors import Problem, Refused
from lily.model.records import ConsumedRecord
from lily.model.suggestions import MAX_LENGTH, hint

ALERTS = ("incident", "at_risk", "clear")
CHANGES = (*KINDS, *ALERTS)
_PURPOSE = "position"
_Number = Annotated[int, Field(ge=0, lt=2**63)]
_SHAPE: TypeAdapter[list[tuple[str, int, int]]] = TypeAdapter(list[tuple[str, _Number, _Number]])


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """An empty set does not filter."""

    entity_types: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    assets: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()

    @classmethod
    def of(cls, tenant: str, parameters: Mapping[str, list[str]]) -> "MessageFilter":
        """Raises Refused with a hint for an entity type or a kind of change that does not exist."""
        return cls(
            frozenset(known_type(name) for name in parameters.get("entity_type", ())),
            frozenset(_known_change(name) for name in parameters.get("change", ())),
            frozenset(ids.resolve(tenant, reference) for reference in parameters.get("metadata_id", ())),
            frozenset(tag_key(tag) for tag in parameters.get("tag", ())),
        )

    def matches(self, message: "Message") -> bool:
        return (
            (not self.entity_types or message.entity_type in self.entity_types)
            and (not self.changes or message.change in self.changes)
            and (not self.assets or message.metadata_id in self.assets)
            and (not self.tags or not self.tags.isdisjoint(message.tags))
        )


@dataclass(frozen=True, slots=True)
class Message:
    metadata_id: str
    entity_type: str
    change: str
    tags: frozenset[str]
    body: Mapping[str, Any]

    @property
    def incident(self) -> str:
        """The id of the incident that it is about; empty if it is about none."""
        return str(self.body["incident_id"]) if self.change in ALERTS else ""

    def at(self, offsets: Offsets) -> str:
        """The message as it is sent, with the position that follows it."""
        return orjson.dumps({**self.body, "position": seal_position(offsets)}).decode()


def read_messages(record: ConsumedRecord) -> list[Message]:
    """The messages of a record: one for a change of an asset, none for a promotion, one per asset for an announcement.
    Raises ValueError or KeyError for anything else; the relay writes nothing else."""
    event = orjson.loads(record.value)
    if record.topic == topics.NOTIFICATIONS:
        return _alerts(event) if event["data"]["change"] in ALERTS else _announced(event)
    return [] if event["data"]["change"] == PROMOTED else [_changed(event)]


def _announced(event: Mapping[str, Any]) -> list[Message]:
    """Assets that gained or lost a tag by propagation, with the cause."""
    data = event["data"]
    cause, gained = data["cause"], data["change"] == "tagged"
    tags = {"added": [cause["tag"]] if gained else [], "removed": [] if gained else [cause["tag"]]}
    common = {
        "type": "update",
        "change": data["change"],
        "timestamp": event["time"],
        "version": None,
        "layer": cause["layer"],
        "changed": ["tags"],
        "tags": tags,
        "cause": cause,
    }
    return _per_asset(event, common, frozenset({tag_key(cause["tag"])}))


def _alerts(event: Mapping[str, Any]) -> list[Message]:
    """An incident, or a risk that came or went, once for each asset; once without an asset if none was found yet."""
    data = event["data"]
    shown = ("incident_id", "severity", "state", "title", "url")
    common = {"type": "alert", "change": data["change"], "timestamp": event["time"]}
    return _per_asset(event, common | {name: data["incident"][name] for name in shown}, frozenset())


def _per_asset(event: Mapping[str, Any], common: Mapping[str, Any], tags: frozenset[str]) -> list[Message]:
    data = event["data"]
    return [
        Message(
            metadata_id=asset or "",
            entity_type=entity_type or "",
            change=data["change"],
            tags=tags,
            body={
                **common,
                "id": f"{event['id']}-{asset}" if asset else event["id"],
                "metadata_id": asset,
                "entity_type": entity_type or "",
                "qualified_name": name,
            },
        )
        for asset, entity_type, name in data["assets"] or [(None, None, None)]
    ]


def _changed(event: Mapping[str, Any]) -> Message:
    data = event["data"]
    tags = data.get("tags") or {}
    return Message(
        metadata_id=data["metadata_id"],
        entity_type=data.get("entity_type") or "",
        change=data["change"],
        tags=frozenset(tag_key(tag) for names in tags.values() for tag in names),
        body={
            "type": "update",
            "id": event["id"],
            "metadata_id": data["metadata_id"],
            "entity_type": data.get("entity_type") or "",
            "qualified_name": data.get("qualified_name"),
            "change": data["change"],
            "timestamp": event["time"],
            "version": data.get("version"),
            "layer": data.get("layer"),
            "changed": sorted(data.get("changed") or ()),
            "tags": tags,
        },
    )


def without_words(text: str) -> str:
    """An alert as it is sent, without what may name other assets than its own."""
    return orjson.dumps(orjson.loads(text) | {"title": "", "url": ""}).decode()


def _known_change(given: str) -> str:
    if given not in CHANGES:
        description = f"unknown change `{given[:MAX_LENGTH]}`; {hint(given, CHANGES)}"
        raise Refused(Problem("UNKNOWN_CHANGE", description, "change"))
    return given


def tenant_of(record: ConsumedRecord) -> str:
    return record.key.partition(b"/")[0].decode("utf-8", "replace")


def seal_position(offsets: Offsets) -> str:
    return sealed.seal(sorted((*at, offset) for at, offset in offsets.items()), _PURPOSE)


def unseal_position(text: str) -> Offsets:
    """Raises ValueError for anything that is not a position."""
    return {(topic, partition): offset for topic, partition, offset in sealed.unseal(text, _SHAPE, _PURPOSE)}
