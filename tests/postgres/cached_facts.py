"""What the API keeps of assets, compared with what it would read."""

import asyncio
from collections.abc import Collection
from typing import Any

from lily.api.policy.fact_cache import FactCache, Known
from lily.policy import Facts
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.sessions import Database

Shown = dict[str, list[tuple[Any, ...]]]


class CachedFacts:
    """Two caches, as in two processes of the API, and an event loop for them."""

    def __init__(self, url: str) -> None:
        self._runner = asyncio.Runner()
        self._database = Database(url)
        self._runner.run(self._database.open())
        self._caches = (FactCache(self._database), FactCache(self._database))

    def close(self) -> None:
        self._runner.run(self._database.close())
        self._runner.close()

    def of(self, tenant: str, names: Collection[str]) -> Shown:
        """As the first cache has them."""
        return _shown(self.known(tenant, names).facts, names)

    def known(self, tenant: str, names: Collection[str], cache: int = 0) -> Known:
        return self._runner.run(self._known(tenant, names, self._caches[cache]))

    def answered_first(self, tenant: str, first: Collection[str], second: Collection[str]) -> list[int]:
        """The order in which two requests get their facts, of which the second comes while the first is served."""
        return self._runner.run(self._answered_first(tenant, first, second))

    async def _answered_first(self, tenant: str, *asked: Collection[str]) -> list[int]:
        served: list[int] = []

        async def serve(number: int, names: Collection[str]) -> None:
            await self._known(tenant, names, self._caches[0])
            served.append(number)

        await asyncio.gather(*(serve(number, names) for number, names in enumerate(asked, 1)))
        return served

    def restart(self, tenant: str) -> None:
        """As if the server had been started again since the first cache read from it."""
        kept = self._caches[0]._kept[tenant]
        kept.state = kept.state._replace(server="2000-01-01 00:00:00+00")

    def difference(self, tenant: str, names: Collection[str], cache: int = 0) -> tuple[Shown, Shown] | None:
        """Where they differ: what a cache has, and what would be read. None if they are the same."""
        kept = _shown(self.known(tenant, names, cache).facts, names)
        read = _shown(self._runner.run(self._read(tenant, names)), names)
        differing = [name for name in names if kept[name] != read[name]]
        return (
            ({name: kept[name] for name in differing}, {name: read[name] for name in differing}) if differing else None
        )

    async def _known(self, tenant: str, names: Collection[str], cache: FactCache) -> Known:
        return await cache.candidates(tenant, names, await self._wanted(tenant))

    async def _read(self, tenant: str, names: Collection[str]) -> dict[str, list[Facts]]:
        return await read_candidates(self._database, tenant, names, await self._wanted(tenant))

    async def _wanted(self, tenant: str) -> Wanted:
        rules = await read_tag_rules(self._database, tenant)
        return Wanted(rules, rules.protective, attributes=True)


def _shown(facts: Any, names: Collection[str]) -> Shown:
    return {name: sorted(_values(one) for one in facts[name]) for name in names}


def _values(facts: Facts) -> tuple[Any, ...]:
    about = (facts.id, facts.qualified_name, facts.entity_type, facts.data_source, facts.ancestors)
    return (*about, sorted(facts.tags), sorted((facts.attributes or {}).items(), key=repr), facts.restricts_only)
