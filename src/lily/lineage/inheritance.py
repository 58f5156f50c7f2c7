"""What comes down the hierarchy to an asset, and from which of its ancestors."""

from collections.abc import Sequence
from typing import NamedTuple


class Ancestor(NamedTuple):
    id: str
    stated: frozenset[str]
    arrived: frozenset[str]  # along edges
    suppressed: frozenset[str]
    deleted: bool = False


def carriers(ancestors: Sequence[Ancestor], *, cut: bool) -> dict[str, int]:
    """Every tag that comes down, with the place of the nearest ancestor that has it itself; the parent comes first."""
    found: dict[str, int] = {}
    stopped: set[str] = set()
    for place, ancestor in enumerate(ancestors):
        if cut and ancestor.deleted:
            break  # nothing passes it, and nothing that is above it
        for tag in (ancestor.stated | (ancestor.arrived - ancestor.suppressed)) - stopped:
            found.setdefault(tag, place)
        stopped |= ancestor.suppressed
    return found
