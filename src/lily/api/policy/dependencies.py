"""What the facts of a name rest on, as keys: when an asset is changed, which of them are no longer valid.

The facts of an asset rest on its own row, its place in the graph and its derived tags, and on those of everything above
it: on the ids in `Facts.keys`. Which assets a name means rests on those of that name, and of the name before its last
separator, in any case, whether or not there are any yet, and on edges to a column of these tables that nobody ingested.
"""

from collections.abc import Collection, Sequence

from lily.model import ids
from lily.model.engine_names import usual_spellings
from lily.policy import Facts, fold
from lily.policy.names import EVERYTHING, id_key, name_key

_NONE: frozenset[str] = frozenset()


def changed_keys(assets: Collection[str], names: Collection[str]) -> frozenset[str]:
    """The keys of assets that were changed, which have these names."""
    if not assets:
        return _NONE
    return frozenset((EVERYTHING, *map(id_key, assets), *map(name_key, names)))


def own_keys(tenant: str, reference: str, assets: Sequence[Facts]) -> frozenset[str]:
    """What a reference rests on beside the keys of the assets that it means."""
    if any(_continues_unseen(one) for one in assets):
        return frozenset((EVERYTHING,))
    above = ids.name_prefix(reference)
    keys = {key for name in (reference, above) for key in (id_key(ids.resolve(tenant, name)), name_key(name))}
    if ids.looks_like_uuid(reference):
        keys.update(id_key(ids.asset_id(tenant, ids.name_prefix(one.qualified_name))) for one in assets)
    for table in _tables_called(above, assets) if above != reference else ():
        keys.update(id_key(ids.asset_id(tenant, name)) for name in usual_spellings(table, reference))
    return frozenset(keys.difference(*(one.keys for one in assets))) or _NONE


def _tables_called(name: str, assets: Sequence[Facts]) -> set[str]:
    """The stored names of the tables of that name, in any case, whose columns the assets are."""
    listed, folded = {ancestor.qualified_name for one in assets for ancestor in one.ancestors}, fold(name)
    return {one for one in listed if fold(one) == folded}


def _continues_unseen(facts: Facts) -> bool:
    """Whether it is below something that only the lake has. Tags may come from above that, which `ancestors` lacks."""
    return bool(facts.ancestors) and not facts.ancestors[-1].qualified_name
