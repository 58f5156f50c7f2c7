"""The tags that an asset inherits down the hierarchy, and from which of its ancestors."""

from collections.abc import Sequence
from typing import NamedTuple


class Ancestor(NamedTuple):
    id: str
    stated: frozenset[str]
    propagated: frozenset[str]  # reached it along edges, and not as an influence only
    suppressed: frozenset[str]
    deleted: bool = False


def inherited_tags(ancestors: Sequence[Ancestor], *, cut: bool) -> dict[str, int]:
    """Every inherited tag, with the index of the nearest ancestor that has it. The parent is the first ancestor."""
    found: dict[str, int] = {}
    stopped: set[str] = set()
    for index, ancestor in enumerate(ancestors):
        if cut and ancestor.deleted:
            break  # passes nothing on, neither its own tags nor those of its ancestors
        for tag in (ancestor.stated | (ancestor.propagated - ancestor.suppressed)) - stopped:
            found.setdefault(tag, index)
        stopped |= ancestor.suppressed
    return found
