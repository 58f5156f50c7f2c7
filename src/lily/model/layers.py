"""A layer of an asset: within it the newest event wins, field by field and tag by tag (decision D8).

A layer is kept in three parts that together say, for every field, its value and the clock of the event that set it:

* `fields`: the values. `fields["tags"]` maps a tag's folded name to the name as stated.
* `at`: the newest clock in the layer.
* `clocks`: only what differs from "every field was set at `at`". A field named here without a value was cleared.
  `clocks["tags"]`, where present, spells out every tag's clock, and under "" the clock of the newest whole list.

Most events restate all fields of an asset, so `clocks` is mostly None and a newer event simply replaces the layer.
`merge` is commutative, associative and idempotent: order, repetition and delay of events do not matter.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

TAGS = "tags"
_LIST = ""  # the key, among a layer's tag clocks, of the newest statement of the whole list


class Layer(NamedTuple):
    fields: dict[str, Any]
    at: str
    clocks: dict[str, Any] | None = None

    def clock_of(self, key: str) -> str | None:
        """The clock of the event that last set or cleared a field; None where no event ever stated it."""
        if self.clocks is not None and key in self.clocks:
            return str(self.clocks[key])
        return self.at if key in self.fields else None


@dataclass(slots=True)
class _Spread:
    """A layer with every clock spelled out; a value of None means cleared, a tag of None means removed."""

    fields: dict[str, tuple[str, Any]] = field(default_factory=dict)
    tags: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    list_at: str | None = None


def merge(one: Layer, other: Layer) -> Layer:
    older, newer = (one, other) if one.at <= other.at else (other, one)
    if replaces(newer, older):
        return newer
    return _gathered(_united(_spread(older), _spread(newer)))


def replaces(newer: Layer, older: Layer) -> bool:
    """Whether a newer layer states everything that the older one does, so that nothing of the older remains."""
    return (
        newer.at > older.at
        and newer.clocks is None
        and older.clocks is None
        and older.fields.keys() <= newer.fields.keys()
    )


def holds(layer: Layer, statement: Layer) -> bool:
    """Whether every statement of an event still stands in the layer, none having lost to a newer one."""
    spread, stated = _spread(layer), _spread(statement)
    fields = all(spread.fields.get(key, ("",))[0] == at for key, (at, _) in stated.fields.items())
    tags = all(spread.tags.get(tag, (spread.list_at,))[0] == at for tag, (at, _) in stated.tags.items())
    return fields and tags and stated.list_at in (None, spread.list_at)


def _spread(layer: Layer) -> _Spread:
    clocks = layer.clocks or {}
    spread = _Spread(
        fields={key: (clocks.get(key, layer.at), value) for key, value in layer.fields.items() if key != TAGS}
    )
    for key, at in clocks.items():
        if key != TAGS and key not in layer.fields:
            spread.fields[key] = (at, None)
    present: dict[str, str] = layer.fields.get(TAGS, {})
    if TAGS in clocks:
        spread.list_at = clocks[TAGS].get(_LIST)
        spread.tags = {tag: (at, present.get(tag)) for tag, at in clocks[TAGS].items() if tag != _LIST}
    elif TAGS in layer.fields:
        spread.list_at = layer.at
        spread.tags = {tag: (layer.at, shown) for tag, shown in present.items()}
    return spread


def _united(one: _Spread, other: _Spread) -> _Spread:
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
        # A whole list is also a statement about every tag it does not name.
        tags = {tag: stated for tag, stated in tags.items() if stated[0] >= list_at}
    return _Spread(fields, tags, list_at)


def _gathered(spread: _Spread) -> Layer:
    tag_clocks = {tag: at for tag, (at, _) in spread.tags.items()}
    if spread.list_at is not None:
        tag_clocks[_LIST] = spread.list_at
    at = max([at for at, _ in spread.fields.values()] + list(tag_clocks.values()))
    fields = {key: value for key, (_, value) in spread.fields.items() if value is not None}
    clocks: dict[str, Any] = {key: when for key, (when, value) in spread.fields.items() if when != at or value is None}
    if tag_clocks:
        fields[TAGS] = {tag: shown for tag, (_, shown) in spread.tags.items() if shown is not None}
        plain = spread.list_at == at and all(when == at and shown is not None for when, shown in spread.tags.values())
        if not plain:
            clocks[TAGS] = tag_clocks
    return Layer(fields, at, clocks or None)
