"""Usage judged in PostgreSQL: one finding for each cause, stated once, and judged again when that is due."""

from datetime import timedelta
from typing import Any

import pytest

from lily.store.postgres.quality import subjects
from lily.store.postgres.quality.changes import due_policies
from tests.postgres.quality import NOW, Watched
from tests.postgres.quality_policies.watched import DEVIATION, LOW, ORDERS
from tests.quality_oracle import Used


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
        "select action from audit where tenant_id = %s order by number", [watched.tenant]
    ).fetchall()
    assert [action for (action,) in audited[1:]] == [
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
