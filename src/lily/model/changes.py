"""Describes a change of a layer: its kind, the fields that differ, the tags added and removed."""

from collections.abc import Mapping, Sequence
from typing import Any

from lily.model.assets import CUT, DELETED, SUPPRESSED, TYPE
from lily.model.held import PARENT_ID, is_about_holding
from lily.model.layers import TAGS

KINDS = ("created", "updated", "deleted", "restored", "tagged", "untagged")
# PostgreSQL took an asset over from the lake: consumers of the change log see its layers, but nothing has changed.
PROMOTED = "promoted"
_SHOWN_AS = {TYPE: "entity_type", DELETED: "is_deleted"}

Values = Mapping[str, Any]


def kind(before: Values | None, after: Values, causes: Sequence[Mapping[str, str]] = ()) -> str:
    """One of KINDS, or PROMOTED if that is the cause; `before` is None if the layer is new.

    Only a source states a type, so a new layer with a type is a new asset; a new user layer is an update.
    """
    if is_promotion(causes):
        return PROMOTED
    if after.get(DELETED) is True and (before or {}).get(DELETED) is not True:
        return "deleted"
    if before is None and TYPE in after:
        return "created"
    if after.get(DELETED) is False and (before or {}).get(DELETED) is not False:
        return "restored"
    tags = tag_changes(before, after)
    if (tags["added"] or tags["removed"]) and differences(before, after).keys() == {TAGS}:
        return "tagged" if tags["added"] else "untagged"
    return "updated"


def promotion(clock: str) -> dict[str, str]:
    """The cause of a change that is a promotion: the newest event of the layer, by its clock."""
    time, _, event_id = clock.partition("/")
    return {"id": event_id, "time": time, "from": "lake"}


def is_promotion(causes: Sequence[Mapping[str, str]]) -> bool:
    return any(cause.get("from") == "lake" for cause in causes)


def differences(before: Values | None, after: Values) -> dict[str, dict[str, Any]]:
    """`{field: {"from", "to"}}` for each field that is shown and differs, under its name in the contract."""
    was = before or {}
    changed = [key for key in was.keys() | after.keys() if was.get(key) != after.get(key) and not _is_hidden(key)]
    return {
        _name(key): {"from": _shown(key, was.get(key)), "to": _shown(key, after.get(key))} for key in sorted(changed)
    }


def tag_changes(before: Values | None, after: Values) -> dict[str, list[str]]:
    was, now = (before or {}).get(TAGS) or {}, after.get(TAGS) or {}
    if was == now:
        return {"added": [], "removed": []}
    return {
        "added": sorted(now[tag] for tag in now.keys() - was.keys()),
        "removed": sorted(was[tag] for tag in was.keys() - now.keys()),
    }


def _is_hidden(key: str) -> bool:
    return key in {PARENT_ID, CUT} or is_about_holding(key)


def _name(key: str) -> str:
    return _SHOWN_AS.get(key) or (key.removeprefix("$") if key.startswith(SUPPRESSED) else key)


def _shown(key: str, value: Any) -> Any:
    return sorted(value.values()) if key == TAGS and value is not None else value
