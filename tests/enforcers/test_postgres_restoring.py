"""What Lily changed in a database can be taken back, and what it does not understand it leaves alone."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from lily.model.errors import Terminal, Transient
from tests.enforcers.target import LILY, OWNER, Target, apply, in_line


def some_state(target: Target) -> None:
    """Grants of every kind, by the owner and by others, and row-level security."""
    target.run("grant usage on schema shop to bob, hr", user=OWNER)
    target.run(
        "grant select, insert on shop.customers to public; grant select (id, name) on shop.customers to hr", OWNER
    )
    target.run("grant select on shop.orders to bob with grant option", user=OWNER)
    target.run('grant select on shop.orders to "Eve O\'Neil"; grant select (id) on shop.orders to ann', user="bob")
    target.run(
        "alter table shop.orders enable row level security; create policy mine on shop.orders using (true)", OWNER
    )


def everything(target: Target) -> list[object]:
    roles = ["ann", "bob", "analyst", "hr"]
    return [
        target.decision("shop.customers", roles, "row-filter", row_filters=("country = 'DE'",)),
        target.decision("shop.customers", ["ann"], "mask", "email", mask="show-last-4"),
        target.decision("shop.orders", roles, "row-filter", row_filters=("amount > 20",)),
        target.decision("shop.orders", ["ann"], "deny", "amount"),
    ]


def test_a_superuser_restores_even_who_granted_what(target: Target) -> None:
    some_state(target)
    before = target.state()
    enforcer = target.enforcer(url=target.url)
    assert not apply(enforcer, everything(target))  # type: ignore[arg-type]
    assert target.seen("bob", "select id from shop.orders") == [(2,)]
    assert target.state() != before
    enforcer.remove()
    assert target.state() == before


def test_others_restore_what_was_granted_and_to_whom(target: Target) -> None:
    """Granting as another role takes its rights, which Lily's role need not have."""
    some_state(target)
    asked = "select count(*) from shop.orders"
    before = {role: target.seen(role, asked) for role in ("ann", "bob", "Eve O'Neil")}
    enforcer = target.enforcer()
    assert not apply(enforcer, everything(target))  # type: ignore[arg-type]
    enforcer.remove()
    assert {role: target.seen(role, asked) for role in before} == before
    schemas = target.admin.execute("select nspname from pg_namespace where nspname ~ 'lily|masked'").fetchall()
    assert schemas == []


def test_a_table_that_is_no_longer_decided_is_given_back(target: Target) -> None:
    target.run("grant select on shop.orders to hr", user=OWNER)
    before = target.state()
    enforcer = target.enforcer()
    apply(enforcer, [target.decision("shop.orders", ["ann"], "allow")])
    assert not apply(enforcer, [])
    assert target.state() == before


def test_a_table_that_was_dropped_is_forgotten(target: Target) -> None:
    enforcer = target.enforcer()
    orders = target.decision("shop.orders", ["ann"], "allow")
    customers = target.decision("shop.customers", ["ann"], "allow")
    apply(enforcer, [orders, customers])
    target.run("drop table shop.orders cascade", user=OWNER)
    plan = enforcer.plan([orders, customers])
    assert any("shop.orders" in one.subject for one in plan.findings)
    assert not enforcer.apply(plan)
    assert in_line(enforcer, [customers])
    enforcer.remove()


def test_a_renamed_table_stays_enforced_until_it_is_decided_by_its_new_name(target: Target) -> None:
    enforcer = target.enforcer()
    before = target.decision("shop.orders", ["ann"], "deny")
    target.run("grant usage on schema shop to ann; grant select on shop.orders to ann", user=OWNER)
    apply(enforcer, [before])
    target.run("alter table shop.orders rename to purchases", user=OWNER)
    plan = enforcer.plan([before])
    assert {one.subject.rpartition(".")[2] for one in plan.findings} == {"orders", "purchases"}
    enforcer.apply(plan)
    assert target.seen("ann", "select id from shop.purchases") == "refused"
    after = [target.decision("shop.purchases", ["ann"], "allow")]
    assert not apply(enforcer, after)
    assert target.seen("ann", "select count(*) from shop_masked.purchases") == [(2,)]
    assert in_line(enforcer, after)


@pytest.mark.parametrize("change", ["alter table shop.orders rename to purchases", "drop table shop.orders"])
def test_a_table_that_changes_between_plan_and_apply_does_not_stop_the_others(target: Target, change: str) -> None:
    enforcer = target.enforcer()
    decided = [target.decision(f"shop.{name}", ["ann"], "allow") for name in ("customers", "orders")]
    plan = enforcer.plan(decided)
    target.run(change, user=OWNER)
    (failure,) = enforcer.apply(plan)
    assert failure.table[2] == "orders"
    assert "plan again" in failure.error
    assert target.seen("ann", "select count(*) from shop_masked.customers") == [(3,)]


def test_a_busy_table_is_reported_and_does_not_stay_readable(target: Target) -> None:
    target.run("grant usage on schema shop to ann; grant select on shop.customers to ann", user=OWNER)
    enforcer = target.enforcer(lock_seconds=0.2)
    decided = [
        target.decision("shop.customers", ["ann"], "row-filter", row_filters=("country = 'DE'",)),
        target.decision("shop.orders", ["ann"], "allow"),
    ]
    with psycopg.connect(target.url_of(OWNER)) as busy:
        busy.execute("select * from shop.customers")
        (failure,) = apply(enforcer, decided)
        assert failure.table[2] == "customers"
        assert failure.transient
        assert target.seen("ann", "select id from shop.customers") == "refused"
        assert target.seen("ann", "select count(*) from shop.orders") == [(2,)]
    assert not apply(enforcer, decided)
    assert target.seen("ann", "select id from shop.customers order by id") == [(1,), (3,)]


def test_a_view_that_others_depend_on_is_closed_and_reported(target: Target) -> None:
    enforcer = target.enforcer()
    apply(enforcer, [target.decision("shop.orders", ["ann", "bob"], "allow")])
    target.run("create view shop.report as select customer from shop_masked.orders")
    target.run("alter table shop.orders rename column amount to sum", user=OWNER)
    (failure,) = apply(enforcer, [target.decision("shop.orders", ["bob"], "allow")])
    assert "shop.report" in failure.error
    assert target.seen("ann", "select id from shop_masked.orders") == "refused"
    assert target.seen("ann", "select id from shop.orders") == "refused"
    with pytest.raises(Terminal, match=r"shop\.report"):
        enforcer.remove()
    target.run("drop view shop.report")
    enforcer.remove()


def test_a_table_of_an_owner_whose_rights_lily_lacks_is_reported_with_the_remedy(target: Target) -> None:
    target.run("create table shop.secret (id int)")
    enforcer = target.enforcer()
    decided = [target.decision(f"shop.{name}", ["ann"], "allow") for name in ("secret", "orders")]
    (failure,) = apply(enforcer, decided)
    assert failure.table[2] == "secret"
    assert f'TO "{LILY}"' in failure.error
    assert not failure.transient
    assert target.seen("ann", "select count(*) from shop.orders") == [(2,)]


def test_a_role_that_may_not_create_schemas_is_told_what_to_grant(target: Target) -> None:
    target.run(f'revoke create on database "{target.database}" from {LILY}')
    with target.person("carla"):
        enforcer = target.enforcer(url=target.url_of("carla"))
        with pytest.raises(Terminal, match="GRANT CREATE ON DATABASE"):
            apply(enforcer, [target.decision("shop.orders", ["ann"], "allow")])
        enforcer.close()


def test_a_wrong_password_is_not_worth_another_attempt_and_is_not_shown(target: Target) -> None:
    wrong = target.url_of(LILY).replace(":x@", ":geheim@")
    with pytest.raises(Terminal) as refused:
        target.enforcer(url=wrong).inventory()
    assert "geheim" not in str(refused.value)
    with pytest.raises(Transient):
        target.enforcer(url="postgresql://x@127.0.0.1:1/x", connect_seconds=2).inventory()


def test_a_role_that_is_dropped_between_plan_and_apply_is_reported(target: Target) -> None:
    enforcer = target.enforcer()
    with target.person("carla"):
        plan = enforcer.plan([target.decision("shop.orders", ["ann", "carla"], "allow")])
    failures = enforcer.apply(plan)
    assert "orders" in {one.table[-1] for one in failures}
    assert all("carla" in one.error and one.transient for one in failures)


def test_a_schema_that_another_role_has_made_in_lilys_name_is_not_trusted(target: Target) -> None:
    target.run("create schema lily_enforcement", user=OWNER)
    with pytest.raises(Terminal, match=f"belongs to {OWNER}"):
        target.enforcer().inventory()


def test_a_target_that_does_not_respond_in_time_is_tried_again(target: Target) -> None:
    enforcer = target.enforcer(lock_seconds=0.2)
    decided = [target.decision("shop.orders", ["ann"], "allow")]
    apply(enforcer, decided)
    with target.admin.transaction():
        target.run("lock table lily_enforcement.tables")
        with pytest.raises(Transient, match="busy"):
            enforcer.plan(decided)
    assert in_line(enforcer, decided)


def test_a_server_that_hangs_does_not_hold_the_worker(target: Target) -> None:
    """The kernel goes on to acknowledge what is sent, so no limit of the network or of PostgreSQL helps."""
    decided = [target.decision("shop.orders", ["ann"], "allow")]
    enforcer = target.enforcer(statement_seconds=1)
    assert not apply(target.enforcer(), decided)
    enforcer.inventory()
    own = "select pid from pg_stat_activity where usename = %s and datname = %s order by backend_start desc limit 1"
    ((backend,),) = target.admin.execute(own, [LILY, target.database]).fetchall()
    os.kill(backend, signal.SIGSTOP)
    try:
        with pytest.raises(Transient, match="does not respond"):
            enforcer.plan(decided)
    finally:
        os.kill(backend, signal.SIGCONT)
    assert in_line(target.enforcer(), decided)


def test_a_connection_that_is_lost_in_the_middle_leaves_whole_tables(target: Target) -> None:
    """The first table is in line, the second as it was, and the next plan has the rest."""
    enforcer = target.enforcer(lock_seconds=60)
    row_filter = ("id > 1",)
    decided = [
        target.decision(f"shop.{name}", ["ann"], "row-filter", row_filters=row_filter)
        for name in ("customers", "orders")
    ]
    plan = enforcer.plan(decided)
    with psycopg.connect(target.url_of(OWNER)) as busy, ThreadPoolExecutor() as threads:
        busy.execute("select * from shop.orders")
        applied = threads.submit(enforcer.apply, plan)
        _terminate_waiting(target)
        with pytest.raises(Transient):
            applied.result()
    assert target.seen("ann", "select count(*) from shop_masked.customers") == [(2,)]
    assert target.seen("ann", "select count(*) from shop.orders") == "refused"
    assert {step.table[-1] for step in enforcer.plan(decided).steps} == {"orders"}
    assert not apply(enforcer, decided)
    assert in_line(enforcer, decided)


def _terminate_waiting(target: Target) -> None:
    """Polls until Lily's session waits for a lock, and ends it."""
    ended = "select pg_terminate_backend(pid) from pg_stat_activity where usename = %s and wait_event_type = 'Lock'"
    deadline = time.monotonic() + 60
    while not target.admin.execute(ended, [LILY]).fetchall():
        assert time.monotonic() < deadline, "the session never waited for the lock"
        time.sleep(0.02)


def test_two_at_once_wait_for_each_other(target: Target) -> None:
    enforcer = target.enforcer()
    decided = [target.decision("shop.orders", ["ann"], "allow")]
    plan = enforcer.plan(decided)
    with psycopg.connect(target.url) as other:
        other.execute("select pg_advisory_lock(1818848377)")
        with pytest.raises(Transient, match="Another process"):
            enforcer.apply(plan)
        other.execute("select pg_advisory_unlock(1818848377)")
        assert not enforcer.apply(plan)


def test_the_plan_can_be_carried_out_by_another_process(target: Target) -> None:
    decided = [target.decision("shop.orders", ["ann"], "allow")]
    assert not target.enforcer().apply(target.enforcer().plan(decided))
    assert in_line(target.enforcer(), decided)
