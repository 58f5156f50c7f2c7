"""The documents of Ranger plug-ins are kept as long as nothing has changed, and no longer."""

import asyncio
import unicodedata
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from typing import Any, TypeVar

import psycopg
import pytest

from lily.api.enforcement import ranger
from lily.api.enforcement.ranger import RangerDocuments
from lily.api.http.errors import Declined
from lily.api.metrics import ApiMetrics
from lily.api.policy.cache import PolicyCache
from lily.enforce.ranger import Documents
from lily.model.access import Principal
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.objects import Entry
from lily.store.postgres.sessions import Database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.test_fact_cache import add_many, catch_up
from tests.ranger_engine import RangerEngine

Result = TypeVar("Result")
PEOPLE = ("shop", "public", "people")
TABLE = ".".join(PEOPLE)


class Downloads:
    """What one process of the API serves, without a listener for notifications."""

    def __init__(self, url: str, world: World) -> None:
        self.world, self._runner, self._database = world, asyncio.Runner(), Database(url)
        self.wait(self._database.open())
        metrics = ApiMetrics()
        self._documents = RangerDocuments(self._database, PolicyCache(self._database, metrics.policy), metrics)

    def close(self) -> None:
        self.wait(self._database.close())
        self._runner.close()

    def wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(coroutine)

    def get(self, service: str = "trino") -> Documents:
        return self.wait(self._documents.get(self.world.tenant, service))

    def policy(self, key: str, effect: str, **more: Any) -> None:
        stated = {"id": key, "name": key, "subjects": [{"user": "ann"}], "actions": ["READ"], "effect": effect}
        body = {**stated, "resources": [{"asset": TABLE}], **more}
        admin = Principal("", self.world.tenant, "tester", frozenset({"admin"}))
        entry = Entry("policy", key, body, ["u:ann"])
        assert self.wait(objects.change(self._database, admin, "put", entry, correlation="c")).done


@pytest.fixture
def downloads(
    migrated: Migrated, make_world: Callable[[], World], owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Downloads]:
    monkeypatch.setattr(ranger, "SAME_MOMENT_SECONDS", 0.0)
    world = make_world()
    world.asset(TABLE, data_source="shop")
    catch_up(owner)
    with closing(Downloads(migrated.url_of("lily_api"), world)) as found:
        found.policy("all", "allow")
        yield found


def test_they_are_kept_while_nothing_changes(downloads: Downloads, make_world: Callable[[], World]) -> None:
    first = downloads.get()
    make_world().asset(TABLE, tags=["PII"])
    assert downloads.get() is first


def test_a_change_of_an_asset_is_in_the_next(downloads: Downloads, owner: psycopg.Connection) -> None:
    downloads.policy("mask", "mask", resources=[{"tag": "PII"}], mask="replace-with-null")
    assert RangerEngine.of(downloads.get()).mask((*PEOPLE, "mail"), "ann") is None
    downloads.world.asset(TABLE, data_source="shop", tags=["PII"])
    catch_up(owner)
    assert RangerEngine.of(downloads.get()).mask((*PEOPLE, "mail"), "ann") == "NULL"


def test_they_are_made_again_if_anything_may_have_changed(downloads: Downloads, owner: psycopg.Connection) -> None:
    first = downloads.get()
    add_many(owner, downloads.world.tenant, "elsewhere.", 101)
    assert downloads.get() is not first


def test_a_change_of_policies_is_in_the_next(downloads: Downloads) -> None:
    assert RangerEngine.of(downloads.get()).allows("select", PEOPLE, "ann")
    downloads.policy("no", "deny")
    assert not RangerEngine.of(downloads.get()).allows("select", PEOPLE, "ann")


def test_within_a_moment_a_plug_in_gets_those_that_belong_together(
    downloads: Downloads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranger, "SAME_MOMENT_SECONDS", 3600.0)
    first = downloads.get()
    downloads.policy("no", "deny")
    assert downloads.get() is first


@pytest.mark.parametrize(
    ("conditions", "kept"),
    [
        ({"purpose": "audit"}, True),
        ({"weekdays": ["mon"]}, False),
        ({"time": {"not_after": "2030-01-01T00:00:00Z"}}, False),
    ],
)
def test_they_are_made_again_if_a_policy_depends_on_time(downloads: Downloads, conditions: Any, *, kept: bool) -> None:
    downloads.policy("timed", "deny", conditions=conditions)
    assert (downloads.get() is downloads.get()) is kept


def test_they_are_made_again_when_propagation_begins_or_ceases_to_lag(downloads: Downloads) -> None:
    downloads.world.asset("elsewhere.t")
    first = downloads.get()
    with downloads.world.parked():
        lagging = downloads.get()
        assert lagging is not first
        assert downloads.get() is lagging
    assert downloads.get() is not lagging


def test_a_service_without_a_table_is_not_known(downloads: Downloads) -> None:
    assert downloads.get("shop")
    with pytest.raises(Declined, match="no table"):
        downloads.get("nothing")


@pytest.mark.parametrize("column", ["CAFÉ", "café", "cafe\u0301", "ÉtÉ", "İstanbul", "Mail "])
def test_a_column_is_masked_however_the_engine_writes_it(downloads: Downloads, column: str) -> None:
    """The catalogue has its name in normal form C."""
    downloads.policy("mask", "mask", resources=[{"tag": "PII"}], mask="replace-with-null")
    downloads.world.column(f"{TABLE}.{column}", TABLE, tags=["PII"])
    downloads.world.column(f"{TABLE}.mailbox", TABLE)
    downloads.world.settle()
    engine = RangerEngine.of(downloads.get())
    assert engine.allows("select", PEOPLE, "ann")
    assert engine.mask((*PEOPLE, "mailbox"), "ann") is None
    written = column.lower().strip()
    for form in ("NFC", "NFD"):
        path = (*PEOPLE, unicodedata.normalize(form, written))
        assert engine.allows("select", path, "ann")
        assert engine.mask(path, "ann") == "NULL"


@pytest.mark.parametrize("column", ["*", "{x}", "?q", "a*", " mail"])
def test_a_table_with_a_tagged_column_that_cannot_be_named_is_denied(downloads: Downloads, column: str) -> None:
    downloads.policy("mask", "mask", resources=[{"tag": "PII"}], mask="replace-with-null")
    downloads.world.column(f"{TABLE}.{column}", TABLE, tags=["PII"])
    downloads.world.column(f"{TABLE}.id", TABLE)
    downloads.world.settle()
    engine = RangerEngine.of(downloads.get())
    for path in (PEOPLE, (*PEOPLE, column), (*PEOPLE, "id"), (*PEOPLE, "other")):
        assert not engine.allows("select", path, "ann")
        assert not engine.allows("show", path, "ann")
