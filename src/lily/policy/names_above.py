"""The names that a qualified name begins with: `hr` and `hr.public` are above `hr.public.grades`."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from lily.model import ids
from lily.policy.requests import Ancestor

NEAREST = FARTHEST = 32  # names above one: a name may have hundreds of parts


def prefixes(name: str) -> Sequence[str]:
    """The longest first."""
    above = list(_prefixes(name))
    return above if len(above) <= NEAREST + FARTHEST else [*above[:NEAREST], *above[-FARTHEST:]]


def names_above(tenant: str, name: str, ancestors: Sequence[Ancestor]) -> tuple[Ancestor, ...]:
    """What an asset is below by its name, where nothing states a parent: above its highest ancestor, or above itself.
    Producers of lineage state no parents, and a policy about a schema covers its tables all the same."""
    top = _highest(tenant, name, ancestors)
    above = ids.name_prefix(top)
    return () if above == top else _named(tenant, above)


def _highest(tenant: str, name: str, ancestors: Sequence[Ancestor]) -> str:
    """The name of the highest ancestor, or the name itself without any. Where only the id of the highest is known, it
    may be one of the names above what is below it; if not, the asset was moved, and nothing is known of what is above.
    """
    if not ancestors or ancestors[-1].qualified_name:
        return ancestors[-1].qualified_name if ancestors else name
    below = next((one.qualified_name for one in reversed(ancestors) if one.qualified_name), name)
    nearest = ids.name_prefix(below)
    named = () if nearest == below else _named(tenant, nearest)
    return next((one.qualified_name for one in named if one.id == ancestors[-1].id), "")


@lru_cache(maxsize=10_000)  # all tables of a schema share it
def _named(tenant: str, nearest: str) -> tuple[Ancestor, ...]:
    names = [nearest, *prefixes(nearest)]
    return tuple(Ancestor(ids.asset_id(tenant, one), one) for one in names)


def _prefixes(name: str) -> Iterator[str]:
    while (prefix := ids.name_prefix(name)) != name:
        yield prefix
        name = prefix
