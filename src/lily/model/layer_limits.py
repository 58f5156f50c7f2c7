"""How large a layer of an asset may become: each statement about it reads and writes all of it, in the lane of all
tenants.

A single statement is limited by its body. What is stated field by field adds up, and what ends without authority is
held and stays. So a statement without authority that makes a layer outgrow these limits is refused: nothing that is
there ends by that, and one with authority, which ends what is held, is never refused.
"""

import orjson

from lily.model.held import HELD_FIELDS
from lily.model.layers import Layer

MAX_HELD = 2_000  # tags and parents
MAX_BYTES = 2 << 20  # twice the largest event of the default settings


def outgrows(after: Layer, before: Layer | None = None) -> bool:
    """Whether the merged layer exceeds a limit, and what was there before less."""
    held, octets = _held(after), _octets(after)
    if before is None:
        return held > MAX_HELD or octets > MAX_BYTES
    return (held > MAX_HELD and held > _held(before)) or (octets > MAX_BYTES and octets > _octets(before))


def _held(layer: Layer) -> int:
    return sum(field.startswith(HELD_FIELDS) for field in layer.fields)


def _octets(layer: Layer) -> int:
    return len(orjson.dumps(layer.fields))
