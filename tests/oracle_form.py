"""A stored layer in the form of the oracle (`tests/oracle.py`)."""

from collections.abc import Mapping
from typing import Any

_NAMES = {
    "$type": "entity_type",
    "$deleted": "deleted",
    "$cut": "deleted with authority",
    "$covers": "parent with authority",
}
_HELD, _HELD_PARENT = "$held:", "$held_parent:"


def as_oracle(fields: Mapping[str, Any], parents: Mapping[str, str]) -> dict[str, Any]:
    """`parents` has the name of each parent by its id."""
    found = {_NAMES.get(key, key): value for key, value in fields.items() if key in _NAMES or not key.startswith("$")}
    if "tags" in found:
        found["tags"] = set(found["tags"])
    if held := {key.removeprefix(_HELD) for key in fields if key.startswith(_HELD)}:
        found["held"] = held
    if held := {parents[key.removeprefix(_HELD_PARENT)] for key in fields if key.startswith(_HELD_PARENT)}:
        found["held parents"] = held
    return found
