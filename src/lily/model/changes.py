"""What a change was: its kind and its differences, from a layer's values before and after."""

from collections.abc import Mapping
from typing import Any

from lily.model.assets import DELETED, PARENT_ID, TYPE
from lily.model.layers import TAGS

_OWN_NAMES = {TYPE: "entity_type", DELETED: "is_deleted"}
Values = Mapping[str, Any]


def kind(before: Values | None, after: Values) -> str:
    """`created`, `deleted`, `restored`, `tagged`, `untagged` or `updated`: the strongest that fits."""
    if after.get(DELETED) is True and (before is None or before.get(DELETED) is not True):
        return "deleted"
    if before is None:
        return "created"
    if before.get(DELETED) is True and after.get(DELETED) is not True:
        return "restored"
    tags = tag_differences(before, after)
    return "tagged" if tags["added"] else "untagged" if tags["removed"] else "updated"


def differences(before: Values | None, after: Values) -> dict[str, dict[str, Any]]:
    """`{field: {"from", "to"}}` for every field whose value is another now; tags as lists of names."""
    before = before or {}
    changed: dict[str, dict[str, Any]] = {}
    for key, value in after.items():
        if before.get(key) != value:
            _note(changed, key, before.get(key), value)
    for key, value in before.items():
        if key not in after:
            _note(changed, key, value, None)
    return changed


def tag_differences(before: Values | None, after: Values) -> dict[str, list[str]]:
    was: Mapping[str, str] = (before or {}).get(TAGS) or {}
    now: Mapping[str, str] = after.get(TAGS) or {}
    if was == now:
        return {"added": [], "removed": []}
    return {
        "added": sorted(name for tag, name in now.items() if tag not in was),
        "removed": sorted(name for tag, name in was.items() if tag not in now),
    }


def _note(changed: dict[str, dict[str, Any]], key: str, was: Any, now: Any) -> None:
    if key == TAGS:
        was, now = sorted((was or {}).values()), sorted((now or {}).values())
    if key != PARENT_ID and was != now:
        changed[_OWN_NAMES.get(key, key)] = {"from": was, "to": now}
