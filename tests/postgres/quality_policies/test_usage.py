"""Usage counted in PostgreSQL: exactly once, in its own day."""

from collections.abc import Callable
from datetime import timedelta

import psycopg
from psycopg import sql

from lily.model.errors import Problem
from lily.model.records import Position, Refusal
from lily.model.usage import KEEP_DAYS
from lily.store.postgres.usage.counts import delete_old_usage, usage_of
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.quality import NOW, Watched
from tests.postgres.quality_policies.watched import DEVIATION, LOW, ORDERS
from tests.quality_oracle import Used


def test_events_are_summed_in_their_own_day_however_late_they_come(watched: Watched) -> None:
    watched.use(ORDERS, {0: 5, 3: 7})
    watched.use(ORDERS, {3: 2})
    days = {str((NOW - timedelta(days=3)).date()): 9, str(NOW.date()): 5}
    assert watched.counts() == {(watched.id_of(ORDERS), day): queries for day, queries in days.items()}


def test_of_events_with_the_same_id_the_first_one_counts(watched: Watched) -> None:
    first, again = Used(ORDERS, NOW, 5, "e1"), Used(ORDERS, NOW, 50, "e1")
    assert watched.count([first, again, Used(ORDERS, NOW, 1)]).events == 2
    assert watched.count([again, Used(ORDERS, NOW, 1)]).events == 1
    assert watched.count([Used("shop.customers", NOW, 9, "e1")]).events == 1, "ids are of one asset"
    assert sorted(watched.counts().values()) == [7, 9]


def test_a_batch_that_is_applied_again_counts_nothing_twice(watched: Watched) -> None:
    event = watched.event(Used(ORDERS, NOW, 5))
    record = watched.record(event)
    until = Position(record.topic, record.partition, record.offset + 1)
    refusal = Refusal(record, watched.tenant, (Problem("X", "x"),))
    assert watched.writer.apply(until, [(record, event)], [], NOW).events == 1
    assert watched.writer.apply(until, [(record, event)], [refusal], NOW) == (0, 0, 0, 0)
    assert list(watched.counts().values()) == [5]


def test_a_refused_event_becomes_a_dead_letter(watched: Watched) -> None:
    record = watched.record(watched.event(Used(ORDERS, NOW, 5)))
    watched.refuse(Refusal(record, watched.tenant, (Problem("INVALID_VALUE", "wrong", "query_count"),)))
    letters = watched.connection.execute(
        'select topic, "offset" from dead_letters where tenant_id = %s', [watched.tenant]
    ).fetchall()
    assert letters == [(record.topic, record.offset)]
    assert watched.counts() == {}


def test_the_counts_of_an_asset_are_read_with_the_days_without_queries(watched: Watched) -> None:
    watched.use(ORDERS, {0: 5, 2: 7})
    read = usage_of(watched.database, watched.tenant, watched.id_of(ORDERS), NOW.date(), 3)
    assert [tuple(one) for one in watched.wait(read)] == [("2026-11-14", 7), ("2026-11-15", 0), ("2026-11-16", 5)]


def test_another_tenant_sees_no_usage_and_no_policy(
    watched: Watched, migrated: Migrated, make_world: Callable[[], World]
) -> None:
    watched.use(ORDERS, {0: 5})
    watched.policy("p", **DEVIATION)
    with psycopg.connect(migrated.url_of("lily_api")) as connection:
        connection.execute("select set_config('lily.tenant', %s, false)", [make_world().tenant])
        for table in ("usage_days", "quality_policies", "quality_findings"):
            asked = sql.SQL("select count(*) from {}").format(sql.Identifier(table))
            assert connection.execute(asked).fetchone() == (0,)
        connection.execute("select set_config('lily.tenant', %s, false)", [watched.tenant])
        assert connection.execute("select count(*) from usage_days").fetchone() == (1,)


def test_old_counts_ids_and_closed_findings_are_deleted(watched: Watched) -> None:
    watched.policy("p", **DEVIATION)
    watched.use(ORDERS, LOW)
    watched.count([Used(ORDERS, NOW, 60, "e1")])
    tenant = [watched.tenant]
    watched.connection.execute("update usage_days set day = day - 500 where tenant_id = %s and queries = 10", tenant)
    watched.connection.execute(
        "update usage_event_ids set counted_at = counted_at - interval '40 days' where tenant_id = %s", tenant
    )
    watched.connection.execute(
        "update quality_findings set closed_at = now() - interval '500 days' where tenant_id = %s", tenant
    )
    assert delete_old_usage(watched.connection) >= 3
    assert 10 not in watched.counts().values()
    for table in (b"usage_event_ids", b"quality_findings"):
        left = watched.connection.execute(b"select count(*) from " + table + b" where tenant_id = %s", tenant)
        assert left.fetchone() == (0,)


def test_the_oldest_day_that_is_kept_is_not_deleted(watched: Watched) -> None:
    watched.use(ORDERS, {0: 1, 1: 2})
    with watched.connection.transaction():  # throughout which `now()` is the same
        watched.connection.execute(
            "update usage_days set day = (now() at time zone 'UTC')::date - %s - queries::integer + 1 "
            "where tenant_id = %s",
            [KEEP_DAYS, watched.tenant],
        )
        delete_old_usage(watched.connection)
    assert list(watched.counts().values()) == [1]
