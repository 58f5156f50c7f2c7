"""The tags that an asset inherits down the hierarchy, and from which of its ancestors."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Ancestor(NamedTuple):
    id: str
    stated: frozenset[str]
    propagated: frozenset[str]  # reached it along edges, and not as an influence only
    suppressed: frozenset[str]
    deleted: bool = False  # with authority
    held: frozenset[str] = frozenset()  # of those that it states: the tags that it only holds
    held_parents: tuple[str, ...] = ()


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


def inherited_by_any_way(
    parents: Sequence[str], ancestor: Callable[[str], Ancestor], above: Callable[[str], Sequence[str]], *, cut: bool
) -> dict[str, tuple[str, ...]]:
    """Every inherited tag, with a shortest way up to an ancestor that has it, where assets have several parents because
    some are held. `above` has the parents of an ancestor. A circle ends: each ancestor is visited once for what was
    suppressed on the way to it."""
    found: dict[str, tuple[str, ...]] = {}
    nothing: frozenset[str] = frozenset()
    waiting: deque[tuple[tuple[str, ...], frozenset[str]]] = deque(((one,), nothing) for one in parents)
    seen = {(one, nothing) for one in parents}
    while waiting:
        way, stopped = waiting.popleft()
        here = ancestor(way[-1])
        if cut and here.deleted:
            continue
        for tag in (here.stated | (here.propagated - here.suppressed)) - stopped:
            found.setdefault(tag, way)
        stopped |= here.suppressed
        for one in above(here.id):
            if (one, stopped) not in seen:
                seen.add((one, stopped))
                waiting.append(((*way, one), stopped))
    return found
