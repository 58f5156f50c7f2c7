"""Masks as actions of the read restrictions. An action that its column's type cannot take is not one that a server may
return, so it becomes NULL, and a constant where the field is required."""

from lily.enforce.iceberg.fields import Field
from lily.policy import Mask, MaskAction

NOTHING: MaskAction = "replace-with-null"
CONSTANT: MaskAction = "mask-to-fixed-value"
_TEXTS = frozenset({"string"})
_TIMES = frozenset({"date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
_HASHED = frozenset({"string", "int", "long", "binary"})
# The types that the specification lists for each action. The two that are missing take every type.
_APPLICABLE: dict[MaskAction, frozenset[str]] = {
    "mask-alphanum": _TEXTS,
    "show-first-4": _TEXTS,
    "show-last-4": _TEXTS,
    "truncate-to-year": _TIMES,
    "truncate-to-month": _TIMES,
    "sha-256-global": _HASHED,
    "sha-256-query-local": _HASHED,
}


def action(field: Field, mask: Mask | None) -> MaskAction:
    """None: nothing of the value may be seen. The constant of `mask-to-fixed-value` is the specification's, by type:
    there is no place for a policy's own."""
    wanted = NOTHING if mask is None else mask.action
    if wanted in _APPLICABLE and field.kind not in _APPLICABLE[wanted]:
        wanted = NOTHING
    return CONSTANT if wanted == NOTHING and field.required else wanted
