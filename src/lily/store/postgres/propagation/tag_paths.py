"""Why an asset has the tags that reached it from elsewhere: a path for each, from the supports that are stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Literal

from lily.lineage.inheritance import Ancestor, inherited_tags
from lily.store.assets import StoredAsset
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


@dataclass(frozen=True, slots=True)
class Derivation:
    tag: str  # folded
    kind: Literal["propagated", "inherited"]
    path: tuple[str, ...]  # the origin first, the asset last
    depth: int  # the edges on it


async def derivations(database: Database, asset: StoredAsset) -> list[Derivation]:
    """One for each tag and way it came. What changes while they are read may be told with only the end of its path."""
    derived = asset.derived_tags
    above = await _ancestors(database, asset) if derived.inherited else []
    carried = inherited_tags(above, cut=asset.rules.cut_deleted)
    inherited = {tag: carried[tag] for tag in derived.inherited if tag in carried}
    arrived = [(tag, asset.id) for tag in derived.propagated]
    arrived += [(tag, above[place].id) for tag, place in inherited.items() if tag not in above[place].stated]
    paths = await _paths(database, asset.tenant, arrived)
    found = [_propagated(asset.id, tag, paths) for tag in derived.propagated]
    for tag, place in inherited.items():
        down = tuple(ancestor.id for ancestor in reversed(above[:place]))
        start = paths.get((tag, above[place].id), ((above[place].id,), 0))
        found.append(Derivation(tag, "inherited", (*start[0], *down, asset.id), start[1]))
    return found


async def new_origins(database: Database, asset: StoredAsset) -> dict[str, list[str]]:
    """By folded tag, the origins that came after it was suppressed here."""
    rows = await database.fetch(asset.tenant, query("propagation/new_origins"), {"id": asset.id})
    return {tag: origins for tag, origins in rows}  # noqa: C416 - rows are tuples of any length to the type checker


async def tags_through(database: Database, asset: StoredAsset) -> list[str]:
    """The protective tags that other assets have through this one."""
    effective = sorted(asset.effective & asset.rules.protective)
    parameters = {"id": asset.id, "tags": asset.rules.protective_array, "effective": effective}
    rows = await database.fetch(asset.tenant, query("propagation/tags_through_asset"), parameters)
    return [tag for (tag,) in rows]


_Paths = Mapping[tuple[str, str], tuple[tuple[str, ...], int]]


def _propagated(asset_id: str, tag: str, paths: _Paths) -> Derivation:
    path, depth = paths.get((tag, asset_id), ((asset_id,), 0))
    return Derivation(tag, "propagated", path, depth)


async def _ancestors(database: Database, asset: StoredAsset) -> list[Ancestor]:
    asked = {"parent": asset.parent, "tags": asset.rules.protective_array}
    rows = await database.fetch(asset.tenant, query("propagation/ancestry"), asked)
    return [
        Ancestor(id_, frozenset(stated), frozenset(arrived), frozenset(suppressed), deleted)
        for id_, stated, suppressed, deleted, arrived in rows
    ]


async def _paths(database: Database, tenant: str, arrived: Sequence[tuple[str, str]]) -> _Paths:
    if not arrived:
        return {}
    asked = {"tags": [tag for tag, _ in arrived], "ids": [asset_id for _, asset_id in arrived]}
    rows = await database.fetch(tenant, query("propagation/tag_paths"), asked)
    paths: dict[tuple[str, str], tuple[tuple[str, ...], int]] = {}
    for number, steps in groupby(rows, key=itemgetter(0)):
        path = list(steps)
        paths[arrived[number]] = (tuple(asset_id for _, asset_id, _ in path), path[-1][2])
    return paths
