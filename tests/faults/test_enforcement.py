"""A target is half-applied, changed or killed in the midst of a run: it ends in line, and nothing opens on the way."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from tests.enforcers.target import OWNER, Target, make_roles, refusable
from tests.faults.enforced_shop import EnforcedShop, enforced_shop, until
from tests.faults.own_stack import OwnStack
from tests.postgres_server import Server

pytestmark = pytest.mark.faults

EMAILS = "select count(email) from shop.customers"
SMALL_ORDERS = "select count(*) from shop.orders where amount < 20"


@pytest.fixture(scope="module", autouse=True)
def _roles(engines: OwnStack) -> None:
    make_roles(Server(engines.database))


@pytest.fixture
def shop(engines: OwnStack, tmp_path: Path) -> Iterator[EnforcedShop]:
    """Ann reads everything today. Of the customers she must not read what is tagged, of the orders only large ones."""
    with enforced_shop(engines, f"t{uuid4().hex[:12]}", tmp_path) as found:
        database = found.database
        database.run("grant usage on schema shop to ann; grant select on shop.customers, shop.orders to ann", OWNER)
        for table in ("customers", "orders"):
            name = f"{database.database}.shop.{table}"
            found.asset(f"shop.{table}")
            found.policy(f"read-{table}", "allow", {"asset": name})
        found.policy("large", "row-filter", {"asset": f"{database.database}.shop.orders"}, row_filter="amount > 20")
        found.asset("shop.customers.email", parent=f"{database.database}.shop.customers", tags=["PII"])
        found.policy("mask", "mask", {"tag": "PII"}, mask="replace-with-null")
        yield found


class Watch:
    """What Ann sees, look by look: once she may not see something, she must never see it again."""

    def __init__(self, database: Target) -> None:
        self._ann, self._closed = database.connection("ann"), set[str]()
        self._ann.execute("set lock_timeout = '200ms'")

    def look(self) -> bool:
        """Whether everything is closed that the decisions close. A table whose lock is taken is not looked at."""
        for query in (EMAILS, SMALL_ORDERS):
            with suppress(psycopg.errors.LockNotAvailable):
                seen = refusable(self._ann, query)
                if seen in ("refused", [(0,)]):
                    self._closed.add(query)
                else:
                    assert query not in self._closed, f"{query} shows {seen} again"
        return self._closed == {EMAILS, SMALL_ORDERS}


@contextmanager
def orders_in_use(shop: EnforcedShop) -> Iterator[psycopg.Connection]:
    """Customers can be changed. Orders cannot: row-level security needs their lock."""
    with psycopg.connect(shop.database.url_of(OWNER)) as busy:
        busy.execute("select * from shop.orders")
        yield busy


def ends_in_line(shop: EnforcedShop, watch: Watch) -> None:
    until(lambda: watch.look() and shop.shown()["state"] == "in line", shop.shown)
    assert shop.database.seen("ann", "select count(*) from shop.orders") == [(1,)]
    assert shop.database.seen("ann", "select count(*), count(email) from shop_masked.customers") == [(3, 0)]


def test_a_worker_that_is_killed_in_mid_apply_is_made_up_for_by_the_next(shop: EnforcedShop) -> None:
    """The session of the dead worker goes on to wait for the lock, and may even get it."""
    watch = Watch(shop.database)
    shop.add(lock_seconds=60)
    with orders_in_use(shop) as busy:
        with shop.worker() as worker:
            until(shop.waits_for_a_lock, shop.shown)
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
        assert not watch.look()
        assert shop.database.seen("ann", EMAILS) == "refused"
        assert shop.shown()["state"] == "new"
        with shop.worker():
            busy.rollback()
            ends_in_line(shop, watch)


def test_a_target_whose_connections_are_lost_in_mid_apply_is_tried_until_it_is_in_line(shop: EnforcedShop) -> None:
    watch = Watch(shop.database)
    shop.add(lock_seconds=60)
    with orders_in_use(shop) as busy, shop.worker():
        for _ in range(3):
            until(shop.waits_for_a_lock, shop.shown)
            shop.end_sessions()
            until(lambda: bool(shop.shown()["error"]), shop.shown)
            assert not watch.look()
        busy.rollback()
        ends_in_line(shop, watch)


def test_a_target_that_is_slow_is_reported_and_closed_as_far_as_that_is_possible(shop: EnforcedShop) -> None:
    """Its lock is not given in time, so only what takes rights away is carried out."""
    watch = Watch(shop.database)
    shop.add(lock_seconds=0.5)
    with orders_in_use(shop) as busy, shop.worker():
        until(lambda: bool(shop.shown()["failed_tables"]), shop.shown)
        (failed,) = shop.shown()["failed_tables"]
        assert failed["table"].endswith("shop.orders")
        until(watch.look, shop.shown)
        busy.rollback()
        ends_in_line(shop, watch)


def test_a_table_that_is_renamed_between_decision_and_ddl_opens_to_nobody(shop: EnforcedShop) -> None:
    database, purchases = shop.database, "select count(*) from shop.purchases"
    shop.add(lock_seconds=60)
    with psycopg.connect(database.url_of(OWNER)) as busy:
        busy.execute("lock table shop.customers in access exclusive mode")  # they are first: their view cannot be made
        with shop.worker():
            until(shop.waits_for_a_lock, shop.shown)
            database.run("alter table shop.orders rename to purchases", user=OWNER)
            busy.rollback()
            until(lambda: database.seen("ann", purchases) == "refused", shop.shown)
            until(lambda: shop.shown()["state"] == "in line", shop.shown)
    assert database.seen("ann", purchases) == "refused"
    assert database.seen("ann", "select count(*), count(email) from shop_masked.customers") == [(3, 0)]
