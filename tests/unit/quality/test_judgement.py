"""What each rule finds, at its edges, and properties that hold for any counts."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.quality.days import Calendar
from lily.quality.judgement import judge
from lily.quality.parsing import parse_quality_policy
from lily.quality.policies import QualityPolicy
from lily.quality.subjects import Reported, Subject
from tests.quality_oracle import Used, causes, daily

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
TODAY = NOW.date()
LONG_AGO = TODAY - timedelta(days=300)
DEVIATION: dict[str, Any] = {"policy_type": "query_count_deviation"}


def ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def policy(**stated: Any) -> QualityPolicy:
    return parse_quality_policy({"asset": "shop.orders", **stated}, tenant="acme", policy_id="p")


def subject(queries: Mapping[int, int], **more: Any) -> Subject:
    """Queries by how many days ago."""
    counts = {ago(days): number for days, number in queries.items()}
    used = [day for day, number in counts.items() if number]
    known: dict[str, Any] = {
        "created": LONG_AGO,
        "first_used": min(counts, default=None),
        "last_used": max(used, default=None),
        "reported": Reported(LONG_AGO, TODAY),
    }
    asset = policy(policy_type="deleted_asset").asset_id
    return Subject(str(asset), "shop.orders", queries=counts, **(known | more))


def found(rule: QualityPolicy, about: Subject, now: datetime = NOW) -> set[str]:
    return {finding.cause for finding in judge(rule, about, now)}


def week(mean: int, *, first: int = 2) -> dict[int, int]:
    """The seven days before yesterday, or before another day."""
    return dict.fromkeys(range(first, first + 7), mean)


def test_the_title_states_the_day_the_share_and_what_it_was_compared_with() -> None:
    (finding,) = judge(policy(**DEVIATION), subject({**week(1420), 1: 540}), NOW)
    assert finding.title == "orders: 540 queries on 2026-11-15, 62 % below the mean of the 7 days before (1,420)"
    assert finding.cause == "below"


@pytest.mark.parametrize(
    ("yesterday", "expected"), [(115, set()), (116, {"above"}), (85, set()), (84, {"below"}), (0, {"below"})]
)
def test_a_deviation_is_more_than_the_threshold_and_not_exactly_it(yesterday: int, expected: set[str]) -> None:
    assert found(policy(**DEVIATION), subject({**week(100), 1: yesterday})) == expected


def test_today_is_not_over_so_it_can_only_be_too_high() -> None:
    assert found(policy(**DEVIATION), subject({**week(100, first=1), 8: 100})) == set()
    assert found(policy(**DEVIATION), subject({**week(100, first=1), 8: 100, 0: 120})) == {"above"}


def test_a_fall_is_over_as_soon_as_today_has_enough_queries() -> None:
    low = {**week(100), 1: 10}
    assert found(policy(**DEVIATION), subject(low)) == {"below"}
    assert found(policy(**DEVIATION), subject({**low, 0: 90})) == set()


def test_too_little_history_is_no_judgement() -> None:
    six = dict.fromkeys(range(2, 8), 100)
    assert found(policy(**DEVIATION), subject({**six, 1: 5})) == set()
    assert found(policy(**DEVIATION), subject({**six, 8: 100, 1: 5})) == {"below"}
    assert found(policy(**DEVIATION), subject({})) == set()


def test_no_share_of_zero_is_defined() -> None:
    assert found(policy(**DEVIATION), subject({20: 5, 1: 1000})) == set()


def test_an_asset_with_fewer_queries_than_the_minimum_is_not_compared() -> None:
    rule = policy(**DEVIATION, filters={"minimum": 10})
    assert found(rule, subject({**week(9), 1: 0})) == set()
    assert found(rule, subject({**week(10), 1: 0})) == {"below"}


def test_a_day_is_judged_only_when_its_late_reports_have_had_time() -> None:
    rule = policy(**DEVIATION, delay_hours=6)
    counts = subject({**week(100), 1: 10})
    assert found(rule, counts, datetime(2026, 11, 16, 5, 59, tzinfo=UTC)) == set()
    assert found(rule, counts, datetime(2026, 11, 16, 6, 0, tzinfo=UTC)) == {"below"}


def test_days_are_utc_whatever_zone_the_time_is_in() -> None:
    local = datetime(2026, 11, 16, 1, 30, tzinfo=UTC).astimezone()
    assert Calendar.at(local, 1) == Calendar(date(2026, 11, 16), date(2026, 11, 15))
    assert Calendar.at(local, 2).complete == date(2026, 11, 14)


def test_a_spike_is_more_than_the_threshold_on_a_day_and_ends_with_a_complete_day_below_it() -> None:
    rule = policy(policy_type="query_spike", threshold=1000)
    assert found(rule, subject({0: 1000, 1: 1000})) == set()
    assert found(rule, subject({0: 1001})) == {"spike"}
    assert found(rule, subject({1: 1001, 0: 3})) == {"spike"}
    assert found(rule, subject({2: 1001, 1: 3})) == set()


def test_traffic_that_falls_is_found_and_traffic_that_rises_is_not() -> None:
    rule = policy(policy_type="traffic_drop", threshold=50)
    assert found(rule, subject({**week(100), 1: 49})) == {"below"}
    assert found(rule, subject({**week(100), 1: 50})) == set()
    assert found(rule, subject({**week(100), 1: 900})) == set()


def test_unused_means_no_query_on_so_many_complete_days_nor_since() -> None:
    rule = policy(policy_type="unused_for_x_days", threshold=10)
    assert found(rule, subject({11: 5})) == {"unused"}
    assert found(rule, subject({10: 5})) == set()
    assert found(rule, subject({11: 5, 0: 1})) == set()
    assert found(rule, subject({11: 5, 3: 0})) == {"unused"}
    assert found(rule, subject({})) == {"unused"}


def test_nobody_knows_whether_an_asset_is_unused_that_is_new_or_of_which_nothing_is_reported() -> None:
    rule = policy(policy_type="unused_for_x_days", threshold=10)
    assert found(rule, subject({}, created=ago(10))) == set()
    assert found(rule, subject({}, created=None)) == set()
    assert found(rule, subject({}, reported=None)) == set()
    assert found(rule, subject({}, reported=Reported(ago(10), TODAY))) == set()
    assert found(rule, subject({}, reported=Reported(LONG_AGO, ago(11)))) == set()


def test_an_orphan_is_unused_and_has_nothing_downstream() -> None:
    rule = policy(policy_type="orphaned_asset")
    assert found(rule, subject({})) == {"orphaned"}
    assert found(rule, subject({}, downstream=1)) == set()
    assert found(rule, subject({30: 1})) == set()


def test_a_column_that_is_dropped_or_made_private_matters_if_someone_uses_it() -> None:
    rule = policy(policy_type="column_dropped")
    assert found(rule, subject({}, deleted_at=NOW)) == set()
    assert found(rule, subject({}, deleted_at=NOW, downstream=2)) == {"dropped"}
    assert found(rule, subject({3: 1}, private_at=NOW)) == {"private"}
    assert found(rule, subject({9: 1}, private_at=NOW)) == set()
    assert found(rule, subject({3: 1}, private_at=NOW, deleted_at=NOW)) == {"dropped"}
    assert found(rule, subject({3: 1}, downstream=2)) == set()


def test_a_deleted_asset_is_found_by_the_rules_about_that_and_by_no_other() -> None:
    gone = subject({**week(100), 1: 0}, deleted_at=NOW)
    assert found(policy(policy_type="deleted_asset"), gone) == {"deleted"}
    assert found(policy(**DEVIATION), gone) == set()
    assert found(policy(policy_type="unused_for_x_days", threshold=1), gone) == set()


def test_a_policy_watches_its_asset_and_one_for_all_what_its_filters_leave() -> None:
    low = subject({**week(100), 1: 0}, entity_type="table", data_source="shop")
    assert found(policy(**DEVIATION, asset="shop.customers"), low) == set()
    for filters, expected in (
        ({"entity_types": ["table", "view"]}, {"below"}),
        ({"entity_types": ["view"]}, set()),
        ({"data_sources": ["shop"]}, {"below"}),
        ({"data_sources": ["bi"]}, set()),
    ):
        assert found(policy(**DEVIATION, asset="*", filters=filters), low) == expected
    assert found(policy(**DEVIATION, asset="*"), replace(low, is_known=False)) == set()
    assert found(policy(**DEVIATION), replace(low, is_known=False)) == {"below"}


COUNTS = st.dictionaries(st.integers(0, 12), st.integers(0, 60), max_size=13)
RULES = st.one_of(
    st.builds(
        lambda threshold, days, delay: {
            "policy_type": "query_count_deviation",
            "threshold": threshold,
            "days": days,
            "delay_hours": delay,
        },
        st.sampled_from([0, 15, 50, 120]),
        st.integers(1, 9),
        st.sampled_from([0, 1, 13, 40]),
    ),
    st.builds(lambda threshold: {"policy_type": "query_spike", "threshold": threshold}, st.integers(0, 60)),
    st.builds(lambda threshold: {"policy_type": "traffic_drop", "threshold": threshold}, st.integers(0, 99)),
    st.builds(lambda threshold: {"policy_type": "unused_for_x_days", "threshold": threshold}, st.integers(1, 12)),
    st.builds(lambda threshold: {"policy_type": "orphaned_asset", "threshold": threshold}, st.integers(1, 12)),
)


@given(RULES, COUNTS)
def test_the_judgement_is_that_of_the_oracle(stated: dict[str, Any], counts: dict[int, int]) -> None:
    events = [Used("a", datetime.combine(ago(days), NOW.time(), UTC), number) for days, number in counts.items()]
    others = [Used("b", NOW - timedelta(days=days), 1) for days in range(250)]
    expected = causes(stated, daily([*events, *others]), "a", NOW)
    reported = Reported(ago(249), TODAY)
    assert found(policy(**stated), subject(counts, reported=reported)) == expected


@given(RULES, COUNTS, st.integers(2, 5))
def test_only_shares_count_for_a_deviation(stated: dict[str, Any], counts: dict[int, int], factor: int) -> None:
    rule = policy(**stated)
    scaled = subject({day: number * factor for day, number in counts.items()})
    if rule.policy_type in {"query_count_deviation", "traffic_drop"}:
        assert found(rule, scaled) == found(rule, subject(counts))


@given(RULES, COUNTS, st.integers(0, 40))
def test_queries_of_today_end_a_fall_and_begin_none(stated: dict[str, Any], counts: dict[int, int], more: int) -> None:
    rule = policy(**stated)
    before, after = subject(counts), subject({**counts, 0: counts.get(0, 0) + more})
    new = found(rule, after) - found(rule, before)
    assert not new & {"below", "unused", "orphaned"}
    assert not (found(rule, before) - found(rule, after)) & {"above", "spike"}


@given(RULES, COUNTS)
def test_a_cause_is_found_once_and_the_same_state_is_judged_the_same(
    stated: dict[str, Any], counts: dict[int, int]
) -> None:
    judged = judge(policy(**stated), subject(counts), NOW)
    assert len({finding.cause for finding in judged}) == len(judged)
    assert judge(policy(**stated), subject(counts), NOW) == judged
