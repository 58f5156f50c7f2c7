"""Reads what an incident puts at risk, and by which path."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

_FIRST = "00000000-0000-0000-0000-000000000000"  # no asset has this id

# By asset of a row: what it came from, followed by what is above that; None for an asset of the incident itself.
Supports = Mapping[str, Sequence[str] | None]


class AssetAtRisk(NamedTuple):
    asset_id: str
    qualified_name: str | None  # None if the asset was not ingested yet
    name: str | None
    entity_type: str | None
    is_deleted: bool
    via: str | None  # the asset from which it came; None if the incident names this one

    @property
    def reference(self) -> str:
        """By name: a column that only the lake has is known as one of its table's by its name alone."""
        return self.qualified_name or self.asset_id


async def assets_at_risk(
    database: Database, tenant: str, incident: str, *, start: str | None, limit: int
) -> list[AssetAtRisk]:
    """The assets of the incident and those reached along edges, in order of their ids; not those that only inherit."""
    parameters = {"incident": incident, "start": start or _FIRST, "limit": limit}
    return [AssetAtRisk(*row) for row in await database.fetch(tenant, query("at_risk/assets"), parameters)]


async def risk_paths(
    database: Database, tenant: str, incident: str, asset_ids: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """By asset, a path along which the risk came: an asset of the incident first. Steps down the hierarchy are part of
    it. An asset that is clear meanwhile has none."""
    parameters = {"incident": incident, "ids": id_array(asset_ids)}
    paths = paths_of(dict(await database.fetch(tenant, query("at_risk/supports"), parameters)))
    return {asset_id: paths[asset_id] for asset_id in asset_ids if asset_id in paths}


def paths_of(supports: Supports) -> dict[str, tuple[str, ...]]:
    """Goes forward from the assets of the incident, so rows that seem to support each other end nothing."""
    resting = dict[str, list[tuple[str, tuple[str, ...]]]]()  # by asset of a row: rows that rest on it, with the steps
    for asset_id, chain in supports.items():
        for index, above in enumerate(chain or ()):
            if above in supports:
                resting.setdefault(above, []).append((asset_id, tuple(reversed(chain[:index] if chain else ()))))
    paths: dict[str, tuple[str, ...]] = {asset_id: (asset_id,) for asset_id, chain in supports.items() if chain is None}
    queue = deque(paths)
    while queue:
        reached = queue.popleft()
        for asset_id, steps in resting.get(reached, ()):
            if asset_id not in paths:
                paths[asset_id] = (*paths[reached], *steps, asset_id)
                queue.append(asset_id)
    return paths
