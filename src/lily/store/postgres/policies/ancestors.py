"""The ancestors of many assets, in one query."""

from collections.abc import Collection, Iterable

from lily.policy import Ancestor
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

MAX_DEPTH = 64


class Ancestors:
    """The ancestors of all assets of a query, by id."""

    def __init__(self, rows: Iterable[tuple[str, str | None, str | None, str | None]]) -> None:
        """Of each ancestor: its id, its qualified name, its parent's id and, if known, its data source."""
        self._nodes: dict[str, tuple[str, str | None]] = {}
        self._sources: dict[str, str] = {}
        for asset_id, name, parent, source in rows:
            self._nodes[asset_id] = (name or "", parent)
            if source:
                self._sources[asset_id] = source
        self._chains: dict[str | None, tuple[Ancestor, ...]] = {None: ()}

    def above(self, parent: str | None) -> tuple[Ancestor, ...]:
        """The parent, its parent and so on. A cycle ends."""
        chain = self._chains.get(parent)
        if chain is None:
            steps: dict[str, Ancestor] = {}
            step = parent
            while step is not None and step not in steps and len(steps) < MAX_DEPTH:
                name, above = self._nodes.get(step, ("", None))
                steps[step] = Ancestor(step, name)
                step = above
            chain = self._chains[parent] = tuple(steps.values())
        return chain

    def source_of(self, asset_id: str | None) -> str:
        return self._sources.get(asset_id or "", "")


async def read_ancestors(database: Database, tenant: str, parents: Collection[str]) -> Ancestors:
    """The given parents and everything above them. Without parents no query is sent."""
    if not parents:
        return Ancestors(())
    return Ancestors(await database.fetch(tenant, query("policies/facts/ancestors"), {"ids": id_array(parents)}))
