"""Requests of Trino's plug-in, decided by what PostgreSQL has."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import orjson
import psycopg
import pytest

from lily.api.enforcement import trino as decided
from lily.api.enforcement.answers import AnswerCache
from lily.api.enforcement.trino import Ask, respond
from lily.api.metrics import ApiMetrics
from lily.api.policy.cache import PolicyCache
from lily.api.policy.decision_log import DecisionLog
from lily.api.policy.fact_cache import FactCache
from lily.enforce import trino
from lily.model.access import Principal
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.objects import Entry
from lily.store.postgres.sessions import Database
from tests import trino_requests as opa
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.test_fact_cache import catch_up_with_lake

PEOPLE, FILES = "shop.public.people", "shop.public.people$files"
RENAMED = opa.request("RenameTable", resource=opa.table(PEOPLE), targetResource=opa.table("shop.public.new"))


class Plugin:
    """Calls what the API calls, without a server. Nobody listens for notifications, so policies are read each time."""

    def __init__(self, url: str, tenant: str) -> None:
        self._runner, self._database = asyncio.Runner(), Database(url)
        self._runner.run(self._database.open())
        metrics = ApiMetrics()
        services = SimpleNamespace(
            database=self._database,
            metrics=metrics,
            policies=PolicyCache(self._database, metrics.policy),
            facts=FactCache(self._database),
            answers=AnswerCache(),
            decision_log=DecisionLog(self._database, metrics.policy),
        )
        self._admin = Principal("", tenant, "tester", frozenset({"admin"}))
        self._call: Any = SimpleNamespace(services=services, tenant=tenant, principal=self._admin)

    def close(self) -> None:
        self._runner.run(self._database.close())
        self._runner.close()

    def ask(self, body: Any, ask: Ask = trino.allow) -> Any:
        return orjson.loads(self._runner.run(respond(self._call, orjson.dumps(body), ask)))["result"]

    def policy(self, key: str, effect: str, **more: Any) -> None:
        body = {"id": key, "name": key, "subjects": [{"user": "ann"}], "effect": effect, "actions": ["READ"], **more}
        put = objects.change(self._database, self._admin, "put", Entry("policy", key, body, ["u:ann"]), correlation="c")
        assert self._runner.run(put).done


@pytest.fixture
def world(make_world: Callable[[], World], owner: psycopg.Connection) -> World:
    found = make_world()
    found.typed("schema", "shop.public")
    for name in (PEOPLE, FILES):
        found.asset(name, parent="shop.public")
    found.settle()
    catch_up_with_lake(owner, found)
    return found


@pytest.fixture
def plugin(migrated: Migrated, world: World) -> Iterator[Plugin]:
    with closing(Plugin(migrated.url_of("lily_api"), world.tenant)) as found:
        every = ["READ", "WRITE", "DELETE"]
        found.policy("all", "allow", resources=[{"asset": "*"}], actions=every)
        found.policy("mask", "mask", resources=[{"tag": "PII"}], mask="replace-with-null")
        yield found


@pytest.mark.parametrize("known", ["ingested", "without a parent", "by an edge"])
def test_a_table_is_renamed_or_described_by_those_who_see_all_of_it(
    plugin: Plugin, world: World, owner: psycopg.Connection, known: str
) -> None:
    described = opa.select(FILES, ["lower_bounds"])
    assert plugin.ask(RENAMED)
    assert plugin.ask(described)
    if known == "by an edge":
        world.asset("crm.mail", tags=["PII"])
        world.edge("crm.mail", f"{PEOPLE}.Mail")
    else:
        world.typed("column", f"{PEOPLE}.mail", tags=["PII"], **({"parent": PEOPLE} if known == "ingested" else {}))
    world.settle()
    catch_up_with_lake(owner, world)
    assert not plugin.ask(RENAMED)
    assert not plugin.ask(described)
    assert plugin.ask(opa.request("GetRowFilters", resource=opa.table(FILES)), trino.row_filters)


def test_a_large_request_is_answered_as_a_small_one(
    plugin: Plugin, world: World, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.typed("column", f"{PEOPLE}.c2", parent=PEOPLE, tags=["PII"])
    world.settle()
    catch_up_with_lake(owner, world)
    body = opa.masks(PEOPLE, {f"c{number}": "varchar" for number in range(20)})
    small = plugin.ask(body, trino.batch_column_masks)
    monkeypatch.setattr(decided, "LARGE", 2)
    monkeypatch.setattr("lily.api.policy.fact_cache.SLICE", 3)
    large = plugin.ask(body | {"again": True}, trino.batch_column_masks)
    assert small == large == [{"index": 2, "viewExpression": {"expression": "CAST(NULL AS varchar)"}}]
