"""A layer of an edge: what it shows, and what it conducts (docs/decisions/0049).

Shown is what the newest statement says, field by field. For what protective tags follow, a statement that closes a
field (deletes, blocks or masks the edge) counts only if it has authority: the newest statement that opens the field or
has authority decides. Both are the same merge, over all statements and over some of them, so order and repetition make
no difference to either, and a statement without authority never takes a tag away.

Where the two differ, the layer has one field more: `$conducts:` and the name of the field, with the value that conducts
and its clock. Masking needs no authority on an edge that was never open: while every statement of a layer that the edge
exists masks it, the layer conducts as a masked one (`NEVER`).
"""

from typing import Any, NamedTuple

from lily.model.assets import DELETED
from lily.model.layers import Layer

PROPAGATES, MASKING = "propagates", "masking"
CONDUCTS = "$conducts:"
UNSET = ""  # nothing that counts states the field
NEVER = "never"  # the same, and no statement that the edge exists leaves masking out

_OPEN = {DELETED: False, PROPAGATES: True, MASKING: False}
_NO_CLOCK, _UNNAMED = "", "0"  # before every clock; a statement without masking comes after none at all

Stated = tuple[str, Any]  # the clock and the value; None if the field was cleared


class ConductingEdge(NamedTuple):
    """The values of a layer that count for what protective tags follow. None: nothing that counts states it."""

    deleted: bool | None
    propagates: bool | None
    masking: bool | None
    never_open: bool  # every statement that the edge exists masks it


class _Registers(NamedTuple):
    shown: dict[str, Stated]
    conducting: dict[str, Stated]


def stated_layer(at: str, settings: dict[str, bool | None], *, deleted: bool, authorised: bool) -> Layer:
    """What one statement makes of a layer that has nothing else."""
    shown: dict[str, Stated] = {key: (at, value) for key, value in settings.items()}
    shown[DELETED] = (at, deleted)
    if authorised:
        conducting = dict(shown)
    else:
        # A setting that is cleared without authority counts as opened: what it gives way to may be closed.
        opened = {key for key, (_, value) in shown.items() if value is None or value is _OPEN[key]}
        conducting = {key: (at, _OPEN[key]) for key in opened}
    return _compact(_Registers(shown, conducting))


def merge_edges(one: Layer, other: Layer) -> Layer:
    """Commutative, associative and idempotent, as `layers.merge`."""
    first, second = _expand(one), _expand(other)
    return _compact(_Registers(_newest(first.shown, second.shown), _newest(first.conducting, second.conducting)))


def conducting(layer: Layer | None) -> ConductingEdge:
    if layer is None:
        return ConductingEdge(None, None, None, never_open=False)
    values = {key: value for key, (_, value) in _expand(layer).conducting.items() if isinstance(value, bool)}
    return ConductingEdge(
        values.get(DELETED), values.get(PROPAGATES), values.get(MASKING), layer.fields.get(CONDUCTS + MASKING) == NEVER
    )


def _newest(one: dict[str, Stated], other: dict[str, Stated]) -> dict[str, Stated]:
    merged = dict(one)
    for key, stated in other.items():
        if key not in merged or stated[0] > merged[key][0]:
            merged[key] = stated
    return merged


def _expand(layer: Layer) -> _Registers:
    shown, counts = dict[str, Stated](), dict[str, Stated]()
    for key in _OPEN:
        at, held_at = layer.clock_of(key), layer.clock_of(CONDUCTS + key)
        if at is not None:
            shown[key] = (at, layer.fields.get(key))
        if held_at is not None:
            counts[key] = (held_at, layer.fields[CONDUCTS + key])
        elif at is not None:
            counts[key] = shown[key]
    if MASKING not in counts and layer.fields.get(DELETED) is False:
        counts[MASKING] = (_UNNAMED, UNSET)
    return _Registers(shown, {key: stated for key, stated in counts.items() if stated[0] != _NO_CLOCK})


def _compact(registers: _Registers) -> Layer:
    shown = registers.shown
    at = max(clock for clock, _ in shown.values())
    fields = {key: value for key, (_, value) in shown.items() if value is not None}
    clocks: dict[str, Any] = {key: clock for key, (clock, value) in shown.items() if clock != at or value is None}
    for key, (clock, value) in _differences(registers).items():
        fields[CONDUCTS + key] = UNSET if value is None else value
        if clock != at:
            clocks[CONDUCTS + key] = clock
    return Layer(fields, at, clocks or None)


def _differences(registers: _Registers) -> dict[str, Stated]:
    shown, counts = registers
    nothing = {DELETED: UNSET, PROPAGATES: UNSET, MASKING: NEVER}
    found = {key: counts.get(key, (_NO_CLOCK, nothing[key])) for key in shown if counts.get(key) != shown[key]}
    if MASKING not in shown and shown[DELETED][1] and MASKING in counts:
        found[MASKING] = counts[MASKING]  # of an edge that exists it goes without saying
    return found
