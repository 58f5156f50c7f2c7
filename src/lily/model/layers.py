"""A layer of an asset: within it the newest event wins, field by field and tag by tag (decision D8).

A layer is stored in three parts that together give, for every field, its value and the clock of the event that set it:

* `fields`: the values. `fields["tags"]` maps a tag's key to the name as stated.
* `at`: the newest clock in the layer.
* `clocks`: the fields whose clock differs from `at`. A field that is here but has no value was cleared.
  `clocks["tags"]`, if present, holds every tag's clock, and under "" the clock of the newest complete list.

Most events restate all fields of an asset, so `clocks` is mostly None and a newer event simply replaces the layer.
`merge` is commutative, associative and idempotent, so late, repeated and reordered events make no difference.
A tag or a parent that a newer event leaves out without authority is held: see `lily.model.held`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lily.model.held import PARENT_ID, TagPresence, hold_parents, hold_tags

TAGS = "tags"
_LIST = ""  # the key, in `clocks["tags"]`, of the newest complete list


class Layer(NamedTuple):
    fields: dict[str, Any]
    at: str
    clocks: dict[str, Any] | None = None

    def clock_of(self, key: str) -> str | None:
        """The clock of the event that last set or cleared a field; None if no event ever stated it."""
        if self.clocks is not None and key in self.clocks:
            return str(self.clocks[key])
        return self.at if key in self.fields else None


@dataclass(slots=True)
class _Expanded:
    """A layer with the clock of every field. A value of None means cleared, a tag of None means removed."""

    fields: dict[str, tuple[str, Any]] = field(default_factory=dict)
    tags: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    list_at: str | None = None

    def presences(self) -> Iterator[TagPresence]:
        return ((tag, at, shown) for tag, (at, shown) in self.tags.items() if shown is not None)


def merge(one: Layer, other: Layer) -> Layer:
    older, newer = (one, other) if one.at <= other.at else (other, one)
    if replaces(newer, older):
        return newer
    return _compact(_merge_expanded(_expand(older), _expand(newer)))


def replaces(newer: Layer, older: Layer) -> bool:
    """Whether the newer layer states every field of the older one, every tag and the same parent, so that the merge is
    the newer layer."""
    return (
        newer.at > older.at
        and newer.clocks is None
        and older.clocks is None
        and older.fields.keys() <= newer.fields.keys()
        and older.fields.get(PARENT_ID) in {None, newer.fields.get(PARENT_ID)}
        and (TAGS not in older.fields or older.fields[TAGS].keys() <= newer.fields[TAGS].keys())
    )


def holds(layer: Layer, statement: Layer) -> bool:
    """Whether every field that an event stated is still in the layer, and none lost to a newer event."""
    expanded, stated = _expand(layer), _expand(statement)
    fields = all(expanded.fields.get(key, ("",))[0] == at for key, (at, _) in stated.fields.items())
    tags = all(expanded.tags.get(tag, (expanded.list_at,))[0] == at for tag, (at, _) in stated.tags.items())
    return fields and tags and stated.list_at in (None, expanded.list_at)


def _expand(layer: Layer) -> _Expanded:
    clocks = layer.clocks or {}
    expanded = _Expanded(
        fields={key: (clocks.get(key, layer.at), value) for key, value in layer.fields.items() if key != TAGS}
    )
    for key, at in clocks.items():
        if key != TAGS and key not in layer.fields:
            expanded.fields[key] = (at, None)
    present: dict[str, str] = layer.fields.get(TAGS, {})
    if TAGS in clocks:
        expanded.list_at = clocks[TAGS].get(_LIST)
        expanded.tags = {tag: (at, present.get(tag)) for tag, at in clocks[TAGS].items() if tag != _LIST}
    elif TAGS in layer.fields:
        expanded.list_at = layer.at
        expanded.tags = {tag: (layer.at, shown) for tag, shown in present.items()}
    return expanded


def _merge_expanded(one: _Expanded, other: _Expanded) -> _Expanded:
    fields = dict(one.fields)
    for key, entry in other.fields.items():
        if key not in fields or entry[0] > fields[key][0]:
            fields[key] = entry
    tags = dict(one.tags)
    for tag, stated in other.tags.items():
        if tag not in tags or stated[0] > tags[tag][0]:
            tags[tag] = stated
    list_at = max(filter(None, (one.list_at, other.list_at)), default=None)
    if list_at is not None:
        # A complete list also removes every older tag that it does not name.
        tags = {tag: stated for tag, stated in tags.items() if stated[0] >= list_at}
    merged = _Expanded(fields, tags, list_at)
    hold_tags(fields, (*one.presences(), *other.presences()), {tag for tag, _, _ in merged.presences()})
    hold_parents(fields, one.fields, other.fields)
    return merged


def _compact(expanded: _Expanded) -> Layer:
    tag_clocks = {tag: at for tag, (at, _) in expanded.tags.items()}
    if expanded.list_at is not None:
        tag_clocks[_LIST] = expanded.list_at
    at = max([at for at, _ in expanded.fields.values()] + list(tag_clocks.values()))
    fields = {key: value for key, (_, value) in expanded.fields.items() if value is not None}
    clocks: dict[str, Any] = {
        key: when for key, (when, value) in expanded.fields.items() if when != at or value is None
    }
    if tag_clocks:
        fields[TAGS] = {tag: shown for tag, (_, shown) in expanded.tags.items() if shown is not None}
        plain = expanded.list_at == at and all(
            when == at and shown is not None for when, shown in expanded.tags.values()
        )
        if not plain:
            clocks[TAGS] = tag_clocks
    return Layer(fields, at, clocks or None)
