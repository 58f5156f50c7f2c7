"""A change event of the log as a WebSocket message, and who wants to hear it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import orjson
from pydantic import Field, TypeAdapter

from lily.api.http import sealed
from lily.api.reads.entity_types import known_type
from lily.bus.changefeed import Offsets, Read
from lily.model import ids
from lily.model.assets import fold_tag
from lily.model.changes import KINDS
from lily.model.errors import Problem, Refused
from lily.model.suggestions import LONGEST, hint

_PURPOSE = "position"
_Number = Annotated[int, Field(ge=0, lt=2**63)]
CHANGES = (*KINDS, "incident")
_SHAPE: TypeAdapter[list[tuple[int, int]]] = TypeAdapter(list[tuple[_Number, _Number]])


@dataclass(frozen=True, slots=True)
class Wanted:
    """Empty means all."""

    entity_types: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    assets: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()

    @classmethod
    def of(cls, tenant: str, asked: Mapping[str, list[str]]) -> "Wanted":
        """Raises Refused with a hint for an entity type or a kind of change that does not exist."""
        return cls(
            frozenset(known_type(name) for name in asked.get("entity_type", ())),
            frozenset(_known_change(name) for name in asked.get("change", ())),
            frozenset(ids.resolve(tenant, reference) for reference in asked.get("metadata_id", ())),
            frozenset(fold_tag(tag) for tag in asked.get("tag", ())),
        )

    def takes(self, change: "ChangeNews") -> bool:
        return (
            (not self.entity_types or change.entity_type in self.entity_types)
            and (not self.changes or change.change in self.changes)
            and (not self.assets or change.metadata_id in self.assets)
            and (not self.tags or not self.tags.isdisjoint(change.tags))
        )


@dataclass(frozen=True, slots=True)
class ChangeNews:
    metadata_id: str
    entity_type: str
    change: str
    tags: frozenset[str]
    message: Mapping[str, Any]

    def at(self, offsets: Offsets) -> str:
        """The message as it is sent, with the position that follows it."""
        return orjson.dumps({**self.message, "position": seal_position(offsets)}).decode()


def read_change(record: Read) -> ChangeNews:
    """Raises ValueError or KeyError for what is no change event; the relay writes no such thing."""
    event = orjson.loads(record.value)
    data = event["data"]
    tags = data.get("tags") or {}
    return ChangeNews(
        metadata_id=data["metadata_id"],
        entity_type=data.get("entity_type") or "",
        change=data["change"],
        tags=frozenset(fold_tag(tag) for names in tags.values() for tag in names),
        message={
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


def _known_change(given: str) -> str:
    if given not in CHANGES:
        description = f"unknown change `{given[:LONGEST]}`; {hint(given, CHANGES)}"
        raise Refused(Problem("UNKNOWN_CHANGE", description, "change"))
    return given


def tenant_of(record: Read) -> str:
    return record.key.partition(b"/")[0].decode("utf-8", "replace")


def seal_position(offsets: Offsets) -> str:
    return sealed.seal(sorted(offsets.items()), _PURPOSE)


def unseal_position(text: str) -> Offsets:
    """Raises ValueError for what is no position."""
    pairs = sealed.unseal(text, _SHAPE, _PURPOSE)
    return dict(pairs)
