"""Usage counted and judged in PostgreSQL: exactly once, in its own day, with one alert for each cause."""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg import sql

from lily.model import governance
from lily.model.assets import DELETED
from lily.model.errors import Problem
from lily.model.layers import TAGS
from lily.model.records import Position, Refusal
from lily.model.usage import KEEP_DAYS
from lily.store.postgres.quality import subjects
from lily.store.postgres.quality.changes import due_policies
from lily.store.postgres.usage.counts import delete_old_usage, usage_of
from tests import quality_oracle
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.quality import NOW, Watched
from tests.quality_oracle import Used

ORDERS = "shop.orders"
DEVIATION = {"asset": ORDERS, "policy_type": "query_count_deviation"}
LOW = {**dict.fromkeys(range(2, 9), 100), 1: 10}


@pytest.fixture
def watched(migrated: Migrated, make_world: Callable[[], World]) -> Iterator[Watched]:
    with closing(Watched(migrated, make_world())) as found:
        yield found


def changed(watched: Watched, name: str, *fields: str) -> dict[str, Any]:
    return governance.asset_record(watched.id_of(name), "source", fields, 1, "")


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


def test_a_fall_is_stated_once_and_resolved_when_it_is_over(watched: Watched) -> None:
    watched.policy("p", **DEVIATION)
    assert watched.use(ORDERS, LOW).opened == 1
    assert watched.use(ORDERS, {5: 0}).opened == 0
    assert watched.open() == {("p", watched.id_of(ORDERS), "below")}
    assert watched.use(ORDERS, {1: 90}).closed == 1, "late queries of the day itself"
    opened, resolved = watched.statements()
    assert (opened["state"], resolved["state"]) == ("open", "resolved")
    assert opened["external_id"] == resolved["external_id"]
    assert opened["assets"] == [watched.id_of(ORDERS)]
    assert (opened["source"], opened["kind"], opened["severity"]) == ("quality", "query_count_deviation", "warning")
    assert opened["title"].endswith("90 % below the mean of the 7 days before (100)")


def test_a_fall_that_turns_into_a_rise_closes_one_finding_and_opens_another(watched: Watched) -> None:
    watched.policy("p", **DEVIATION)
    watched.use(ORDERS, LOW)
    counted = watched.use(ORDERS, {0: 1_000})
    assert (counted.opened, counted.closed) == (1, 1)
    assert watched.open() == {("p", watched.id_of(ORDERS), "above")}


def test_a_new_occurrence_is_a_new_finding(watched: Watched) -> None:
    watched.policy("p", asset=ORDERS, policy_type="query_spike", threshold=100)
    watched.use(ORDERS, {0: 200})
    later = NOW + timedelta(days=3)
    watched.pass_over("p", later)
    assert watched.open() == set()
    watched.count([Used(ORDERS, NOW, 1), Used(ORDERS, NOW - timedelta(days=1), 300)], NOW)
    assert watched.open() == {("p", watched.id_of(ORDERS), "spike")}
    states = [(said["state"], said["external_id"]) for said in watched.statements()]
    assert [state for state, _ in states] == ["open", "resolved", "open"]
    assert states[0][1] == states[1][1] != states[2][1]


def test_a_new_policy_judges_what_is_already_counted_and_a_deleted_one_finds_nothing(watched: Watched) -> None:
    watched.use(ORDERS, LOW)
    watched.policy("p", **DEVIATION)
    watched.pass_over("p")
    assert watched.open() == {("p", watched.id_of(ORDERS), "below")}
    watched.policy("p", **DEVIATION, threshold=95)
    watched.pass_over("p")
    assert watched.open() == set()
    watched.policy("p", **DEVIATION)
    watched.pass_over("p")
    watched.unwatch("p")
    watched.pass_over("p")
    assert watched.open() == set()
    assert [said["state"] for said in watched.statements()] == ["open", "resolved"] * 2


def test_every_change_of_a_policy_queues_its_judgement_and_is_audited(watched: Watched) -> None:
    watched.use(ORDERS, dict.fromkeys(range(9), 100))
    watched.policy("p", **DEVIATION)
    watched.policy("p", **DEVIATION, threshold=20)
    watched.unwatch("p")
    assert watched.run_jobs() == 3
    audited = watched.world._owner.execute(
        "select action from audit where tenant_id = %s order by id", [watched.tenant]
    ).fetchall()
    assert [action for (action,) in audited] == [
        f"quality-policy.{change}" for change in ("created", "replaced", "deleted")
    ]


def test_a_policy_for_all_assets_judges_thousands_in_few_steps(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subjects, "AT_ONCE", 7)
    monkeypatch.setattr("lily.store.postgres.quality.judge.AT_ONCE", 7)
    names = [f"shop.t{number}" for number in range(20)]
    for name in names:
        watched.world.asset(name)
    watched.world.typed("view", "shop.v")
    watched.age(*names, "shop.v")
    watched.use("shop.other", dict.fromkeys(range(60), 1))
    watched.use("shop.t3", {2: 1})
    watched.policy("p", asset="*", policy_type="unused_for_x_days", threshold=30, filters={"entity_types": ["table"]})
    assert watched.pass_over("p") == 3, "nineteen tables in steps of seven"
    assert {name for _, name, _ in watched.open()} == set(names) - {"shop.t3"}
    assert watched.use("shop.t7", {0: 1}).closed == 1
    assert len(watched.open()) == 18


def test_a_new_day_makes_a_policy_due_once(watched: Watched) -> None:
    watched.policy("p", **DEVIATION, delay_hours=6)
    mine = (watched.tenant, "p")
    assert mine in due_policies(watched.connection, NOW), "it was never judged"
    watched.pass_over("p", NOW)
    assert mine not in due_policies(watched.connection, NOW)
    assert mine not in due_policies(watched.connection, NOW + timedelta(hours=17))
    assert mine in due_policies(watched.connection, NOW + timedelta(hours=19)), "six hours after midnight"


def test_a_policy_that_changes_while_it_is_judged_is_judged_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.policy("p", **DEVIATION)

    def candidates(*asked: Any) -> list[str]:
        watched.policy("p", **DEVIATION, threshold=50)
        return subjects.candidates(*asked)

    with monkeypatch.context() as changing:
        changing.setattr("lily.store.postgres.quality.judge.candidates", candidates)
        watched.pass_over("p")
    assert (watched.tenant, "p") in due_policies(watched.connection, NOW)
    watched.pass_over("p")
    assert (watched.tenant, "p") not in due_policies(watched.connection, NOW)
    watched.policy("p", **DEVIATION, threshold=60)
    assert (watched.tenant, "p") in due_policies(watched.connection, NOW)


def test_usage_is_known_since_its_first_report_however_late_that_comes(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    watched.age(ORDERS)
    watched.policy("p", asset=ORDERS, policy_type="unused_for_x_days", threshold=10)
    watched.use("shop.customers", {5: 1})
    watched.pass_over("p")
    assert watched.open() == set(), "nobody knows what was used before"
    watched.use("shop.customers", {20: 1})
    watched.use("shop.customers", {0: 1})
    watched.pass_over("p")
    assert watched.open() == {("p", ORDERS, "unused")}


def test_a_fall_is_found_when_the_day_is_over_without_any_event(watched: Watched) -> None:
    watched.policy("p", **DEVIATION)
    watched.use(ORDERS, dict.fromkeys(range(1, 9), 100))
    assert watched.open() == set()
    watched.pass_over("p", NOW + timedelta(days=1))
    assert watched.open() == {("p", watched.id_of(ORDERS), "below")}


def test_a_deleted_asset_is_stated_and_resolved_when_it_is_restored(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    watched.policy("p", asset="*", policy_type="deleted_asset")
    watched.pass_over("p")
    watched.world.person(ORDERS, "delete")
    assert watched.react(changed(watched, ORDERS, DELETED)) == 1
    assert watched.open() == {("p", ORDERS, "deleted")}
    watched.world.person(ORDERS, "restore")
    watched.react(changed(watched, ORDERS, DELETED))
    assert watched.open() == set()
    assert [said["state"] for said in watched.statements()] == ["open", "resolved"]


def test_what_was_deleted_before_the_policy_is_not_stated_until_it_happens_again(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    watched.world.person(ORDERS, "delete")
    watched.policy("p", asset="*", policy_type="deleted_asset")
    watched.pass_over("p")
    assert watched.statements() == []
    watched.world.person(ORDERS, "restore")
    watched.react(changed(watched, ORDERS, DELETED))
    assert watched.statements() == []
    watched.world.person(ORDERS, "delete")
    watched.react(changed(watched, ORDERS, DELETED))
    assert [said["state"] for said in watched.statements()] == ["open"]


def test_an_asset_deleted_before_a_new_policy_was_first_judged_is_stated(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    watched.policy("p", asset="*", policy_type="deleted_asset")
    watched.world.person(ORDERS, "delete")
    watched.pass_over("p")
    assert watched.open() == {("p", ORDERS, "deleted")}


def test_a_column_with_users_that_is_dropped_or_made_private_is_stated(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    for name in ("mail", "phone", "note"):
        watched.world.column(f"{ORDERS}.{name}", ORDERS)
    watched.world.edge(f"{ORDERS}.mail", "bi.customers")
    watched.use(f"{ORDERS}.phone", {2: 40})
    watched.policy("p", asset="*", policy_type="column_dropped")
    watched.pass_over("p")
    for name in ("mail", "note"):
        watched.world.person(f"{ORDERS}.{name}", "delete")
    watched.world.person(f"{ORDERS}.phone", "upsert", attributes={"tags": ["Private"]})
    columns = [f"{ORDERS}.{name}" for name in ("mail", "phone", "note")]
    watched.react(*(changed(watched, name, DELETED, TAGS) for name in columns))
    assert watched.open() == {("p", f"{ORDERS}.mail", "dropped"), ("p", f"{ORDERS}.phone", "private")}
    watched.world.unlink(f"{ORDERS}.mail", "bi.customers")
    edge = governance.edge_record(watched.id_of(f"{ORDERS}.mail"), watched.id_of("bi.customers"), 1, "")
    watched.react(edge)
    assert watched.open() == {("p", f"{ORDERS}.phone", "private")}


def test_an_orphan_has_nothing_downstream_of_it_or_of_its_columns(watched: Watched) -> None:
    for name in ("shop.a", "shop.b", "shop.c"):
        watched.world.asset(name)
    watched.world.column("shop.b.id", "shop.b")
    watched.world.edge("shop.b.id", "bi.x")
    watched.world.settle()
    watched.age("shop.a", "shop.b", "shop.c")
    watched.use("shop.c", dict.fromkeys(range(40), 1))
    watched.policy("p", asset="*", policy_type="orphaned_asset", filters={"entity_types": ["table"]})
    watched.pass_over("p")
    assert watched.open() == {("p", "shop.a", "orphaned")}
    watched.world.edge("shop.a", "bi.y")
    watched.react(governance.edge_record(watched.id_of("shop.a"), watched.id_of("bi.y"), 1, ""))
    assert watched.open() == set()


def test_what_was_deleted_does_not_count_as_downstream(watched: Watched) -> None:
    for name in ("shop.a", "bi.x"):
        watched.world.asset(name)
    watched.world.edge("shop.a", "bi.x")
    watched.age("shop.a", "bi.x")
    watched.use("shop.c", dict.fromkeys(range(40), 1))
    watched.policy("p", asset="shop.a", policy_type="orphaned_asset")
    watched.pass_over("p")
    assert watched.open() == set()
    watched.world.person("bi.x", "delete")
    watched.pass_over("p")
    assert watched.open() == {("p", "shop.a", "orphaned")}


def test_changes_cost_a_tenant_without_such_policies_no_job(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    watched.world.person(ORDERS, "delete")
    record = changed(watched, ORDERS, DELETED)
    assert watched.react(record) == 0
    watched.policy("p", **DEVIATION)
    assert watched.react(record) == 0
    watched.policy("q", asset="shop.other", policy_type="deleted_asset")
    assert watched.react(record) == 0
    watched.policy("q", asset=ORDERS, policy_type="deleted_asset")
    assert watched.react(record) == 1


POLICIES: dict[str, dict[str, Any]] = {
    "deviation": {"policy_type": "query_count_deviation", "threshold": 40, "days": 3},
    "early": {"policy_type": "query_count_deviation", "threshold": 15, "days": 5, "delay_hours": 0},
    "spike": {"policy_type": "query_spike", "threshold": 30},
    "drop": {"policy_type": "traffic_drop", "threshold": 60, "filters": {"entity_types": ["table"]}},
    "unused": {"policy_type": "unused_for_x_days", "threshold": 4, "filters": {"entity_types": ["table"]}},
}


@pytest.mark.parametrize("seed", range(6))
def test_random_usage_in_random_batches_ends_in_the_findings_of_the_oracle(watched: Watched, seed: int) -> None:
    random = Random(seed)
    names = [f"shop.t{number}" for number in range(6)]
    for name in names:
        watched.world.asset(name)
    watched.age(*names)
    for key, stated in POLICIES.items():
        watched.policy(key, asset="*", **stated)
    events: list[Used] = []
    now = NOW - timedelta(days=4)
    while now <= NOW:
        batch = [random_use(random, names, now) for _ in range(random.randrange(1, 25))]
        batch += random.sample(events, min(len(events), random.randrange(4)))
        events += batch
        watched.count(batch, now)
        for key in POLICIES:
            watched.pass_over(key, now)
        expected = expected_findings(events, names, now)
        assert watched.open() == expected
        now += timedelta(hours=random.choice([1, 5, 13, 24]))
    opened = [said for said in watched.statements() if said["state"] == "open"]
    assert len({said["external_id"] for said in opened}) == len(opened)
    assert len(watched.statements()) == 2 * len(opened) - len(watched.open())


def random_use(random: Random, names: list[str], now: Any) -> Used:
    """Repeats are only recognised by their ids, so every event has one."""
    at = now - timedelta(days=random.choice([0, 0, 1, 1, 2, 3, 5, 8, 12]), hours=random.randrange(12))
    return Used(random.choice(names), at, random.randrange(20), f"e{random.getrandbits(40)}")


def expected_findings(events: list[Used], names: list[str], now: Any) -> set[tuple[str, str, str]]:
    counts = quality_oracle.daily(events)
    return {
        (key, name, cause)
        for key, stated in POLICIES.items()
        for name in names
        for cause in quality_oracle.causes(stated, counts, name, now)
    }
