"""The tags that decisions see, read as the API reads them."""

import asyncio
from collections.abc import Collection
from typing import Protocol

from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.policies.facts import Wanted, read_facts
from lily.store.postgres.sessions import Database
from tests.lineage_world import World


class HasTenant(Protocol):
    tenant: str


class DecidedTags:
    """One connection of the API's role, and an event loop for it."""

    def __init__(self, url: str) -> None:
        self._runner = asyncio.Runner()
        self._database = Database(url)
        self._runner.run(self._database.open())

    def close(self) -> None:
        self._runner.run(self._database.close())
        self._runner.close()

    def of(self, world: HasTenant, names: Collection[str]) -> dict[str, frozenset[str]]:
        """By name or id; without the assets that are not in the catalogue."""
        return self._runner.run(self._read(world.tenant, names))

    def lags(self, world: World) -> bool:
        statement = "select propagation_lags(%(tenant)s)"
        ((lags,),) = self._runner.run(self._database.fetch(world.tenant, statement, {}))
        return bool(lags)

    async def _read(self, tenant: str, names: Collection[str]) -> dict[str, frozenset[str]]:
        rules = await read_tag_rules(self._database, tenant)
        facts = await read_facts(self._database, tenant, names, Wanted(rules, rules.protective, attributes=False))
        return {name: frozenset(found.tags) for name, found in facts.items() if found is not None}
