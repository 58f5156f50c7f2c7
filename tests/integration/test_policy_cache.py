"""The compiled policies of a process: never older than a change that was notified, and none without the store."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from lily.api.metrics import ApiMetrics
from lily.api.policy.cache import PolicyCache
from lily.model.access import Principal
from lily.policy import Facts
from lily.policy import Principal as Someone
from lily.store.postgres import listener
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.decision_log import delete_old_decisions
from lily.store.postgres.policies.objects import Entry
from lily.store.postgres.policies.snapshot import read_version
from lily.store.postgres.policies.stored_objects import InvalidStoredObject
from lily.store.postgres.sessions import Database, StoreUnavailable
from tests.relay_proxy import proxy_of
from tests.shared_stack import Stack

FACTS = Facts("00000000-0000-8000-8000-000000000001", "shop.orders", "table")
ANN = Someone("ann")


@dataclass(frozen=True)
class Process:
    """What a process of the API has: a connection pool, a cache, and perhaps a listener."""

    tenant: str
    database: "Counting"
    cache: PolicyCache
    queries: list[str]

    async def change(self, key: str, effect: str | None) -> None:
        """Creates or replaces the policy `key`, or deletes it."""
        body = {
            "id": key,
            "name": key,
            "subjects": [{"user": "ann"}],
            "resources": [{"asset": "*"}],
            "actions": ["READ"],
            "effect": effect,
        }
        how: Any = "delete" if effect is None else "put"
        await self.store(how, Entry("policy", key, body, ["u:ann"]))

    async def store(self, how: Any, entry: Entry) -> None:
        admin = Principal("", self.tenant, "tester", frozenset({"admin"}))
        assert (await objects.change(self.database, admin, how, entry, correlation="c")).done

    async def effect(self) -> str:
        return (await self.cache.get(self.tenant)).index.decide(ANN, "READ", FACTS).effect

    async def until(self, effect: str) -> None:
        async with asyncio.timeout(30):
            while await self.effect() != effect:  # noqa: ASYNC110 - there is no event to wait for
                await asyncio.sleep(0.01)

    async def until_trusted(self, *, trusted: bool = True) -> None:
        async with asyncio.timeout(30):
            while self.cache.is_trusted != trusted:  # noqa: ASYNC110 - there is no event to wait for
                await asyncio.sleep(0.01)


class Counting(Database):
    """Records which statements were sent."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.queries: list[str] = []
        self.after_next: Callable[[], Awaitable[None]] | None = None  # what happens before the next result is used

    async def fetch(self, tenant: str | None, statement: Any, parameters: Any) -> list[tuple[Any, ...]]:
        self.queries.append(str(statement)[:60])
        rows = await super().fetch(tenant, statement, parameters)
        happens, self.after_next = self.after_next, None
        if happens is not None:
            await happens()
        return rows


@asynccontextmanager
async def process(url: str, tenant: str, listening: str = "") -> AsyncIterator[Process]:
    database = Counting(url)
    await database.open()
    cache = PolicyCache(database, ApiMetrics().policy)

    def notified(channel: str, payload: str) -> None:
        if channel == listener.POLICIES:
            cache.changed(payload)
        elif channel == listener.CONFIRMED:
            cache.confirmed(float(payload))
        elif channel == listener.LOST:
            cache.lost()

    task = asyncio.create_task(listener.listen(listening, notified)) if listening else None
    try:
        yield Process(tenant, database, cache, database.queries)
    finally:
        if task:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await database.close()


@pytest.fixture
def url(stack: Stack) -> str:
    return stack.database_of("lily_api")


@pytest.fixture
def tenant(make_tenant: Callable[[], tuple[str, str]]) -> str:
    return make_tenant()[0]


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def test_a_change_reaches_every_process_that_listens(url: str, tenant: str) -> None:
    async def story() -> None:
        async with process(url, tenant, url) as one, process(url, tenant, url) as two:
            await one.until_trusted()
            await two.until_trusted()
            assert await one.effect() == await two.effect() == "deny"
            await one.change("p", "allow")
            await one.until("allow")
            await two.until("allow")
            await two.change("q", "deny")
            await one.until("deny")
            await one.change("q", None)
            await two.until("allow")

    run(story())


def test_a_process_knows_its_own_change_with_its_next_decision(url: str, tenant: str) -> None:
    async def story() -> None:
        async with process(url, tenant, url) as one:
            await one.change("p", "allow")
            await one.until("allow")
            await one.until_trusted()
            for effect in ("deny", "allow") * 10:
                await one.change("p", effect)
                one.cache.changed(tenant)
                await asyncio.sleep(0)  # the process has begun to read the change
                assert await one.effect() == effect

    run(story())


def test_while_changes_are_notified_a_decision_takes_no_query(url: str, tenant: str) -> None:
    async def story() -> None:
        async with process(url, tenant, url) as one:
            await one.change("p", "allow")
            await one.until("allow")
            await asyncio.sleep(1)  # the notification of that change has come
            await one.effect()
            before = len(one.queries)
            for _ in range(100):
                await one.until_trusted()
                assert await one.effect() == "allow"
            assert len(one.queries) == before

    run(story())


def test_without_a_listener_the_next_decision_knows_every_committed_change(url: str, tenant: str) -> None:
    async def story() -> None:
        async with process(url, tenant) as changing, process(url, tenant) as deciding:
            for _ in range(5):
                await changing.change("p", "allow")
                assert await deciding.effect() == "allow"
                await changing.change("p", "deny")
                assert await deciding.effect() == "deny"

    run(story())


def test_a_listener_that_is_silently_cut_off_is_not_trusted_for_long(url: str, tenant: str) -> None:
    async def story() -> None:
        async with (
            proxy_of(url) as (proxy, through),
            process(url, tenant, through) as one,
            process(url, tenant) as other,
        ):
            await one.until_trusted()
            await other.change("p", "allow")
            await one.until("allow")
            proxy.hang()
            await one.until_trusted(trusted=False)
            await other.change("p", "deny")
            assert await one.effect() == "deny"  # at once, by a query
            proxy.resume()
            await one.until_trusted()
            assert await one.effect() == "deny"

    run(story())


def test_a_change_while_notifications_were_lost_is_known_once_they_come_again(url: str, tenant: str) -> None:
    async def story() -> None:
        async with process(url, tenant) as deaf, process(url, tenant) as other:
            await other.change("p", "allow")
            deaf.cache.confirmed(time.monotonic() + 600)  # as if a listener confirmed
            assert await deaf.effect() == "allow"
            await other.change("p", "deny")
            deaf.cache.lost()
            deaf.cache.confirmed(time.monotonic() + 600)
            assert await deaf.effect() == "deny"

    run(story())


def test_a_change_that_is_notified_while_policies_are_read_is_not_missed(url: str, tenant: str) -> None:
    async def story() -> None:
        async with process(url, tenant) as one, process(url, tenant) as other:
            await other.change("p", "allow")
            one.cache.confirmed(time.monotonic() + 600)  # as if a listener confirmed

            async def change() -> None:
                await other.change("p", "deny")
                one.cache.changed(tenant)

            async def version_was_read() -> None:
                one.database.after_next = change

            one.database.after_next = version_was_read
            assert await one.effect() == "allow"
            assert one.database.after_next is None
            assert await one.effect() == "deny"

    run(story())


@pytest.mark.parametrize(
    ("kind", "compiled"),
    [("policy", 1), ("role", 1), ("scraper-policy", 1), ("engine-mapping", 1), ("user", 0), ("access-settings", 0)],
)
def test_a_change_of_anything_but_users_and_settings_is_compiled(
    url: str, tenant: str, kind: Any, compiled: int
) -> None:
    async def story() -> None:
        async with process(url, tenant) as one:
            await one.store("put", Entry(kind, "k", {}))
            version = await read_version(one.database, tenant)
            assert (version.number, version.compiled) == (1, compiled)

    run(story())


def test_without_postgresql_there_is_no_decision(url: str, tenant: str) -> None:
    async def story() -> None:
        async with proxy_of(url) as (proxy, through), process(through, tenant, through) as one:
            await one.change("p", "allow")
            await one.until("allow")
            await one.until_trusted()
            proxy.cut()
            await one.until_trusted(trusted=False)
            with pytest.raises(StoreUnavailable):
                await one.effect()
            proxy.resume()
            await one.until("allow")

    run(story())


def test_users_are_looked_up_once_per_version(url: str, tenant: str) -> None:
    async def story() -> None:
        async with process(url, tenant, url) as one:
            await one.until_trusted()
            await one.change("p", "allow")
            await one.store("create", Entry("user", "ann", {"name": "Ann", "roles": ["a"], "groups": []}))
            await asyncio.sleep(0.5)
            policies = await one.cache.get(tenant)
            for _ in range(3):
                users = await one.cache.users(policies, ["ANN", "bob"])
                assert users["ann"] is not None
                assert users["ann"].roles == ("a",)
                assert users["bob"] is None
            caller = await one.cache.principal(policies, "ANN", ["From the IdP"])
            assert (caller.groups, caller.roles) == (("from the idp",), ("a",))
            assert (await one.cache.principal(policies, "")).roles == ()
            assert sum("users" in text for text in one.queries if "select key, body" in text) <= 1
            await one.store("replace", Entry("user", "ann", {"name": "Ann", "roles": ["b"], "groups": []}))
            async with asyncio.timeout(30):
                while True:
                    policies = await one.cache.get(tenant)
                    ann = (await one.cache.users(policies, ["ann"]))["ann"]
                    if ann is not None and ann.roles == ("b",):
                        break
                    await asyncio.sleep(0.01)

    run(story())


def test_a_stored_policy_that_is_not_valid_stops_decisions_until_it_is_deleted(url: str, tenant: str) -> None:
    async def story() -> None:
        async with process(url, tenant) as one:
            await one.change("good", "allow")
            await one.store("create", Entry("policy", "bad", {"id": "bad", "name": "bad", "effect": "deny"}))
            with pytest.raises(InvalidStoredObject, match="'bad'"):
                await one.effect()
            await one.change("bad", None)
            assert await one.effect() == "allow"

    run(story())


def test_row_level_security_hides_the_policies_of_other_tenants(
    url: str, tenant: str, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    async def story() -> None:
        async with process(url, tenant) as one:
            await one.change("p", "allow")

    run(story())
    other = make_tenant()[0]
    tables = ("policies", "access_versions", "access_history", "decisions")
    with psycopg.connect(url) as connection:
        connection.execute("select set_config('lily.tenant', %s, false)", [other])
        for table in tables:
            rows = connection.execute(f"select tenant_id from {table}").fetchall()  # noqa: S608
            assert {found for (found,) in rows} <= {other}, table
        for statement in ("delete from policies where key = 'p'", "update access_versions set version = 99"):
            connection.execute(statement)
        for statement in (
            "delete from access_history",
            "update access_history set body = '{}'",
            "delete from access_versions",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)
        connection.execute("select set_config('lily.tenant', %s, false)", [tenant])
        assert connection.execute("select count(*) from policies").fetchone() == (1,)
        assert connection.execute("select version from access_versions").fetchone() == (1,)
        connection.rollback()


def test_housekeeping_deletes_old_decisions_of_every_tenant(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenants = [make_tenant()[0] for _ in range(2)]
    with psycopg.connect(stack.database, autocommit=True) as owner:
        for tenant in tenants:
            for days in (1, 29, 31, 400):
                owner.execute(
                    "insert into policy_decisions values (gen_random_uuid(), %s, now() - make_interval(days => %s), "
                    "'me', 'ann', 'READ', 'data', gen_random_uuid(), 'deny', null, 'because', 1)",
                    [tenant, days],
                )
        with psycopg.connect(stack.database_of("lily_pipeline")) as connection:
            assert delete_old_decisions(connection, timedelta(days=30)) >= 4
        left = owner.execute(
            "select tenant_id, extract(day from now() - at)::int from policy_decisions where tenant_id = any(%s)",
            [tenants],
        ).fetchall()
    assert sorted(left) == sorted((tenant, days) for tenant in tenants for days in (1, 29))
