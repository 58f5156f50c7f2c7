"""Describes a change of a layer: its kind, the fields that differ, the tags added and removed."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from lily.model.assets import CUT, DELETED, SUPPRESSED, TYPE
from lily.model.held import PARENT_ID, is_about_holding
from lily.model.layers import TAGS

KINDS = ("created", "updated", "deleted", "restored", "tagged", "untagged")
# PostgreSQL took an asset over from the lake: consumers of the change log see its layers, but nothing has changed.
PROMOTED = "promoted"
_SHOWN_AS = {TYPE: "entity_type", DELETED: "is_deleted"}

Values = Mapping[str, Any]
TagChanges = dict[str, list[str]]
_DECIDES_KIND = frozenset({TAGS, DELETED})


class Described(NamedTuple):
    kind: str
    differences: dict[str, dict[str, Any]]
    tags: TagChanges


def differing(before: Values | None, after: Values) -> list[str]:
    """The fields of which the values differ, also those that are not shown."""
    if before is None:
        before = {}
    found = [key for key, value in after.items() if before.get(key) != value]
    if not before.keys() <= after.keys():
        found += [key for key, value in before.items() if key not in after and value is not None]
    return found


def describe(
    before: Values | None, after: Values, causes: Sequence[Mapping[str, str]], changed: Collection[str]
) -> Described:
    """`kind`, `differences` and `tag_changes` at once, from the fields that differ."""
    shown = _differences(before or {}, after, changed)
    if before is not None and _DECIDES_KIND.isdisjoint(changed) and not is_promotion(causes):
        return Described("updated", shown, {"added": [], "removed": []})
    return Described(kind(before, after, causes), shown, tag_changes(before, after))


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
    return "lake" in [cause.get("from") for cause in causes]


def differences(before: Values | None, after: Values) -> dict[str, dict[str, Any]]:
    """`{field: {"from", "to"}}` for each field that is shown and differs, under its name in the contract."""
    return _differences(before or {}, after, differing(before, after))


def _differences(before: Values, after: Values, changed: Collection[str]) -> dict[str, dict[str, Any]]:
    return {
        _name(key): {"from": _shown(key, before.get(key)), "to": _shown(key, after.get(key))}
        for key in sorted(changed)
        if not _is_hidden(key)
    }


def tag_changes(before: Values | None, after: Values) -> TagChanges:
    was, now = (before or {}).get(TAGS) or {}, after.get(TAGS) or {}
    if was == now:
        return {"added": [], "removed": []}
    return {
        "added": sorted(now[tag] for tag in now.keys() - was.keys()),
        "removed": sorted(was[tag] for tag in was.keys() - now.keys()),
    }


def _is_hidden(key: str) -> bool:
    return key.startswith("$") and (key in {PARENT_ID, CUT} or is_about_holding(key))


def _name(key: str) -> str:
    return _SHOWN_AS.get(key) or (key.removeprefix("$") if key.startswith(SUPPRESSED) else key)


def _shown(key: str, value: Any) -> Any:
    return sorted(value.values()) if key == TAGS and value is not None else value
