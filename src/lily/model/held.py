"""What ends without authority is held: it is no longer shown, and still conducts protective tags (decision 48).

Of each tag and each parent of a layer two clocks count: that of its newest presence, and that of the newest
*authorised* statement without it. Both only grow, so whether something is held does not depend on the order of events.
It is kept in ordinary fields of the layer, each with its clock:

* `$held:TAG` (the name as stated) and `$held_parent:ID`, with the clock of the newest presence;
* `$authorised`, stated by every authorised complete list of tags, `$released:TAG` by the authorised removal of one tag,
  `$authorised_parent` by every authorised statement of the parent, and `$released_parent:ID` where the end of one
  parent was confirmed;
* `$covers`, stated with every parent in the user and enriched layers: whether the author had authority, and so decides
  that the parents of the layers below do not count.

An authorised list that names a tag has the same clock as its presence, so a presence ends by a later clock only.
"""

from collections.abc import Container, Iterable
from typing import Any

PARENT_ID = "$parent"
HELD, RELEASED, AUTHORISED = "$held:", "$released:", "$authorised"
HELD_PARENT, AUTHORISED_PARENT, COVERS = "$held_parent:", "$authorised_parent", "$covers"
RELEASED_PARENT = "$released_parent:"
HELD_FIELDS = (HELD, HELD_PARENT)  # what merging adds: no statement has them
_INTERNAL = (
    HELD,
    RELEASED,
    RELEASED_PARENT,
    AUTHORISED,
    HELD_PARENT,
    COVERS,
)  # AUTHORISED is also the beginning of AUTHORISED_PARENT

ClockedFields = dict[str, tuple[str, Any]]  # clock and value; a value of None was cleared
TagPresence = tuple[str, str, str]  # key, clock and name


def is_about_holding(field: str) -> bool:
    """Whether a field exists only for what this module describes."""
    return field.startswith(_INTERNAL)


def hold_tags(fields: ClockedFields, presences: Iterable[TagPresence], shown: Container[str]) -> None:
    """Adds to the merged fields the tags that were present in a part of the layer and are not shown by the whole, and
    leaves out those that are shown again or ended with authority."""
    for tag, at, name in presences:
        if tag not in shown:
            _add(fields, HELD + tag, at, name)
    listed = _clock(fields, AUTHORISED)
    for field in [field for field in fields if field.startswith(HELD)]:
        tag = field[len(HELD) :]
        if tag in shown or fields[field][0] < max(listed, _clock(fields, RELEASED + tag)):
            del fields[field]


def hold_parents(fields: ClockedFields, *parts: ClockedFields) -> None:
    """The same for the parents of the parts of a layer."""
    _, shown = fields.get(PARENT_ID, ("", None))
    for part in parts:
        at, parent = part.get(PARENT_ID, ("", None))
        if parent is not None and parent != shown:
            _add(fields, HELD_PARENT + parent, at, True)
    ended = _clock(fields, AUTHORISED_PARENT)
    for field in [field for field in fields if field.startswith(HELD_PARENT)]:
        parent = field[len(HELD_PARENT) :]
        if parent == shown or fields[field][0] < max(ended, _clock(fields, RELEASED_PARENT + parent)):
            del fields[field]


def _add(fields: ClockedFields, field: str, at: str, value: Any) -> None:
    if at > _clock(fields, field):
        fields[field] = (at, value)


def _clock(fields: ClockedFields, field: str) -> str:
    return fields[field][0] if field in fields else ""
