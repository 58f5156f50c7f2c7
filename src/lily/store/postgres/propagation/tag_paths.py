"""Explains the derived tags of an asset: one path per tag, from the supports that propagation stores."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple

from lily.lineage.inheritance import Ancestor, inherited_tags
from lily.model.assets import held_parents
from lily.store.assets import StoredAsset
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

MAX_PARENTS = 64  # of an asset and of what is above it, that are looked at for a path


@dataclass(frozen=True, slots=True)
class Derivation:
    tag: str  # its key
    kind: Literal["propagated", "inherited"]
    path: tuple[str, ...]  # the origin first, the asset last
    depth: int  # the number of edges on the path
    held: bool = False  # something on the path has ended without authority


@dataclass(frozen=True, slots=True)
class DerivedTagsOf:
    """The keys of the tags that an asset derives: along edges, and from which of its ancestors, by their index."""

    asset_id: str
    propagated: Collection[str]
    inherited: Mapping[str, int]
    ancestors: Sequence[Ancestor]


async def derivations(database: Database, asset: StoredAsset) -> list[Derivation]:
    """One per derived tag and kind. If a tag changes while this reads, its path may consist of its end only."""
    derived = asset.derived_tags
    found = await derivations_at(database, asset.tenant, DerivedTagsOf(asset.id, derived.propagated, {}, ()), None)
    missing = set(derived.inherited)
    held = sorted(held_parents(asset.layers))
    parents: deque[tuple[str, list[Ancestor]]] = deque((one, []) for one in (asset.parent, *held) if one is not None)
    seen: set[str] = set()
    while missing and parents and len(seen) < MAX_PARENTS:
        parent, below = parents.popleft()
        if parent in seen:
            continue
        ancestors = [*below, *await _ancestors(database, asset, parent)]
        seen.add(parent)
        indexes = inherited_tags(ancestors, cut=asset.rules.cut_deleted)
        inherited = {tag: indexes[tag] for tag in sorted(missing) if tag in indexes}
        of = DerivedTagsOf(asset.id, (), inherited, ancestors)
        through_held = bool(below) or parent != asset.parent
        found += [
            replace(one, held=through_held or one.tag in ancestors[inherited[one.tag]].held)
            for one in await derivations_at(database, asset.tenant, of, None)
        ]
        missing -= inherited.keys()
        for index, ancestor in enumerate(ancestors):
            parents.extend((parent, ancestors[: index + 1]) for parent in ancestor.held_parents)
    return found


async def derivations_at(database: Database, tenant: str, of: DerivedTagsOf, at: str | None) -> list[Derivation]:
    """One per derived tag and kind, by the supports of a time; None is now."""
    ancestors = of.ancestors
    propagated = [_Wanted(tag, of.asset_id) for tag in of.propagated]
    propagated += [
        _Wanted(tag, ancestors[index].id, inherited=True)
        for tag, index in of.inherited.items()
        if tag not in ancestors[index].stated
    ]
    paths = await _paths(database, tenant, propagated, at)
    result = [_propagated(of.asset_id, tag, paths) for tag in of.propagated]
    for tag, index in of.inherited.items():
        down = tuple(ancestor.id for ancestor in reversed(ancestors[:index]))
        path, depth = paths.get(_Wanted(tag, ancestors[index].id, inherited=True), ((ancestors[index].id,), 0))
        result.append(Derivation(tag, "inherited", (*path, *down, of.asset_id), depth))
    return result


async def new_origins(database: Database, asset: StoredAsset) -> dict[str, list[str]]:
    """By the tag's key, the origins that reached the asset after the tag was suppressed there."""
    rows = await database.fetch(asset.tenant, query("propagation/new_origins"), {"id": asset.id})
    return {tag: origins for tag, origins in rows}  # noqa: C416 - rows are tuples of any length to the type checker


class _Wanted(NamedTuple):
    """The path of a propagated tag of an asset, or of an ancestor from which it is inherited."""

    tag: str
    asset_id: str
    inherited: bool = False


_Paths = Mapping[_Wanted, tuple[tuple[str, ...], int]]


def _propagated(asset_id: str, tag: str, paths: _Paths) -> Derivation:
    path, depth = paths.get(_Wanted(tag, asset_id), ((asset_id,), 0))
    return Derivation(tag, "propagated", path, depth)


async def _ancestors(database: Database, asset: StoredAsset, parent: str) -> list[Ancestor]:
    parameters = {"parent": parent, "tags": asset.rules.propagating_array}
    rows = await database.fetch(asset.tenant, query("propagation/ancestors"), parameters)
    return [
        Ancestor(
            id_,
            frozenset(stated),
            frozenset(propagated),
            frozenset(suppressed),
            deleted,
            frozenset(held),
            tuple(parents),
        )
        for id_, stated, suppressed, deleted, propagated, held, parents in rows
    ]


async def _paths(database: Database, tenant: str, propagated: Sequence[_Wanted], at: str | None) -> _Paths:
    """The path and depth of each propagated tag of an asset."""
    if not propagated:
        return {}
    parameters = {
        "tags": [one.tag for one in propagated],
        "ids": [one.asset_id for one in propagated],
        "inherited": [one.inherited for one in propagated],
        "at": at,
    }
    rows = await database.fetch(tenant, query("propagation/tag_paths"), parameters)
    paths: dict[_Wanted, tuple[tuple[str, ...], int]] = {}
    for number, steps in groupby(rows, key=itemgetter(0)):
        path = list(steps)
        paths[propagated[number]] = (tuple(asset_id for _, asset_id, _ in path), path[-1][2])
    return paths
