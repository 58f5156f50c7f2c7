"""What is known of assets, kept while it does not change: never older than the last commit, unused without the store.

Which changes are noticed is tested in tests/postgres/test_fact_cache.py."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from lily.api.policy.fact_cache import FactCache
from lily.lineage.tag_rules import TagRules
from lily.model.ids import asset_id
from lily.policy import Facts
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.sessions import Database, StoreUnavailable
from tests.relay_proxy import proxy_of
from tests.shared_stack import Stack

WANTED = Wanted(TagRules({}, "keep"), frozenset({"pii"}), attributes=False)
ORDERS = "shop.public.orders"


class Counting(Database):
    queries = 0

    async def fetch(self, tenant: str | None, statement: Any, parameters: Any) -> list[tuple[Any, ...]]:
        self.queries += 1
        return await super().fetch(tenant, statement, parameters)


@dataclass(frozen=True)
class World:
    stack: Stack
    tenant: str

    def state(self, name: str, tag: str = "") -> None:
        """Stores an asset, or another tag of it."""
        tags = {tag.lower(): tag} if tag else {}
        source = Jsonb({"$type": "table", "name": name, "tags": tags})
        with psycopg.connect(self.stack.database) as connection:
            connection.execute(
                "insert into assets (tenant_id, id, qualified_name, source, source_at, created_at, updated_at) "
                "values (%s, %s, %s, %s, '2026', now(), now()) "
                "on conflict (tenant_id, id) do update set source = excluded.source",
                [self.tenant, asset_id(self.tenant, name), name, source],
            )

    @asynccontextmanager
    async def cache(self, url: str = "") -> AsyncIterator[tuple[Counting, FactCache]]:
        database = Counting(url or self.stack.database_of("lily_api"))
        await database.open()
        try:
            yield database, FactCache(database)
        finally:
            await database.close()

    async def facts(self, cache: FactCache, name: str = ORDERS) -> Facts:
        (found,) = (await cache.candidates(self.tenant, [name], WANTED)).facts[name]
        return found


@pytest.fixture
def world(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> World:
    made = World(stack, make_tenant()[0])
    made.state(ORDERS)
    return made


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def test_every_commit_is_seen_by_the_next_request(world: World) -> None:
    async def story() -> None:
        async with world.cache() as (_, one), world.cache() as (_, two):
            for tag in ("PII", "", "PII", ""):
                world.state(ORDERS, tag)
                for cache in (one, two, one):
                    assert (await world.facts(cache)).tags == ({tag.lower()} if tag else frozenset())

    run(story())


def test_facts_are_kept_while_a_stack_is_at_work(world: World) -> None:
    """Other tests commit as well, and workers and relays their progress."""

    async def story() -> None:
        async with world.cache() as (database, cache):
            known = await cache.candidates(world.tenant, [ORDERS], WANTED)
            before = database.queries
            for _ in range(10):
                assert (await cache.candidates(world.tenant, [ORDERS], WANTED)).generation == known.generation
            assert database.queries - before == 10

    run(story())


def test_requests_at_the_same_time_share_their_queries(world: World) -> None:
    for number in range(100):
        world.state(f"{ORDERS}_{number}")

    async def story() -> None:
        async with world.cache() as (database, cache):
            names = [f"{ORDERS}_{number}" for number in range(100)]
            before = database.queries
            found = await asyncio.gather(*(world.facts(cache, name) for name in names))
            assert [facts.qualified_name for facts in found] == names
            assert database.queries - before < 20

    run(story())


def test_without_the_store_nothing_is_known(world: World) -> None:
    async def story() -> None:
        async with proxy_of(world.stack.database_of("lily_api")) as (proxy, url), world.cache(url) as (_, cache):
            await world.facts(cache)
            proxy.cut()
            with pytest.raises(StoreUnavailable):
                await world.facts(cache)
            proxy.resume()
            world.state(ORDERS, "PII")
            async with asyncio.timeout(60):
                while True:
                    try:
                        assert (await world.facts(cache)).tags == {"pii"}
                        break
                    except StoreUnavailable:
                        await asyncio.sleep(0.05)

    run(story())
