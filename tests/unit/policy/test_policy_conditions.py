"""Conditions: when each holds, when it is unknown, and which are refused."""

from datetime import UTC, datetime
from typing import Any

import pytest

from lily.model.values import Checker
from lily.policy import Context, Facts, Principal
from lily.policy.condition_parsing import parse_conditions
from lily.policy.conditions import Conditions

ANN, ORDERS = Principal("ann"), Facts("id", "shop.orders")
EARLIER = "2026-03-01T00:00:00Z"
MONDAY_NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def conditions(**given: Any) -> Conditions:
    checker = Checker()
    found = parse_conditions(checker, given)
    assert checker.problems == []
    assert found is not None
    return found


def outcome(context: Context, **given: Any) -> bool | None:
    return conditions(**given).outcome(ANN, ORDERS, context)


def at(text: str) -> Context:
    return Context(datetime.fromisoformat(text))


@pytest.mark.parametrize(
    ("moment", "holds"),
    [
        ("2026-03-02T07:59:59Z", False),
        ("2026-03-02T08:00:00Z", True),  # 09:00 in Berlin
        ("2026-03-02T15:59:59Z", True),
        ("2026-03-02T16:00:00Z", False),
        ("2026-07-01T07:00:00Z", True),  # 09:00 in summer
        ("2026-07-01T15:00:00Z", False),
    ],
)
def test_a_daily_window_is_on_the_clocks_of_its_zone(moment: str, holds: bool) -> None:  # noqa: FBT001
    window = {"from": "09:00", "to": "17:00", "timezone": "Europe/Berlin"}
    assert outcome(at(moment), time=window) is holds


@pytest.mark.parametrize(("moment", "holds"), [("21:59", False), ("22:00", True), ("05:59", True), ("06:00", False)])
def test_a_window_may_pass_midnight(moment: str, holds: bool) -> None:  # noqa: FBT001
    assert outcome(at(f"2026-03-02T{moment}:00Z"), time={"from": "22:00", "to": "06:00"}) is holds


def test_a_window_may_end_at_midnight() -> None:
    window = {"from": "20:00", "to": "24:00"}
    assert outcome(at("2026-03-02T23:59:59Z"), time=window) is True
    assert outcome(at("2026-03-02T00:00:00Z"), time=window) is False


def test_a_period_includes_its_beginning_and_not_its_end() -> None:
    period = {"not_before": "2026-03-01T00:00:00+01:00", "not_after": "2026-04-01T00:00:00Z"}
    assert outcome(at("2026-02-28T22:59:59Z"), time=period) is False
    assert outcome(at("2026-02-28T23:00:00Z"), time=period) is True
    assert outcome(at("2026-04-01T00:00:00Z"), time=period) is False


def test_weekdays_are_those_of_the_zone_of_time() -> None:
    context = at("2026-03-02T02:00:00Z")  # Monday in UTC, still Sunday in New York
    assert outcome(context, weekdays=["Monday", "tue"]) is True
    assert outcome(context, weekdays=["mon"], time={"timezone": "America/New_York"}) is False
    assert outcome(context, weekdays=["sun"], time={"timezone": "America/New_York"}) is True


@pytest.mark.parametrize(
    ("address", "networks", "holds"),
    [
        ("10.1.2.3", ["10.0.0.0/8"], True),
        ("11.1.2.3", ["10.0.0.0/8"], False),
        ("11.1.2.3", ["10.0.0.0/8", "11.1.2.3"], True),
        ("::ffff:10.1.2.3", ["10.0.0.0/8"], True),
        ("10.1.2.3", ["::ffff:10.0.0.0/104"], True),
        ("2001:db8::7", ["2001:db8::/32"], True),
        ("2001:db9::7", ["2001:db8::/32"], False),
        ("2001:db8::7", ["0.0.0.0/0"], False),
        ("10.1.2.3", ["::/0"], False),
        ("fe80::1%eth0", ["fe80::/10"], True),
        (None, ["0.0.0.0/0", "::/0"], None),
        ("", ["0.0.0.0/0"], None),
        ("unix:", ["0.0.0.0/0"], None),
    ],
)
def test_networks(address: str | None, networks: list[str], holds: bool | None) -> None:  # noqa: FBT001
    assert outcome(Context(address=address), networks=networks) is holds


def test_a_purpose_compares_without_case() -> None:
    assert outcome(Context(purpose="BILLING"), purpose=["Billing", "audit"]) is True
    assert outcome(Context(purpose="marketing"), purpose="billing") is False


def test_a_missing_input_is_unknown() -> None:
    nothing = Context()
    assert outcome(nothing, time={"from": "09:00", "to": "17:00"}) is None
    assert outcome(nothing, time={"not_before": "2026-01-01T00:00:00Z"}) is None
    assert outcome(nothing, weekdays=["mon"]) is None
    assert outcome(nothing, purpose=["x"]) is None


def test_one_false_condition_outweighs_unknown_ones() -> None:
    assert outcome(Context(MONDAY_NOON), weekdays=["tue"], networks=["10.0.0.0/8"]) is False
    assert outcome(Context(MONDAY_NOON), weekdays=["mon"], networks=["10.0.0.0/8"]) is None
    assert outcome(Context(MONDAY_NOON, "10.0.0.1"), weekdays=["mon"], networks=["10.0.0.0/8"]) is True


@pytest.mark.parametrize(
    ("stated", "attributes", "holds"),
    [
        ("finance", {"domain": "finance"}, True),
        ("finance", {"domain": "Finance"}, False),
        ("finance", {"domain": ["hr", "finance"]}, True),
        (["hr", "finance"], {"domain": "finance"}, True),
        (1, {"domain": 1}, True),
        (1, {"domain": 1.0}, True),
        (1, {"domain": True}, False),
        (True, {"domain": 1}, False),
        ("1", {"domain": 1}, False),
        ("finance", {"domain": None}, False),
        ("finance", {}, False),
        ("finance", None, None),
    ],
)
def test_an_attribute_of_the_asset(stated: Any, attributes: Any, holds: bool | None) -> None:  # noqa: FBT001
    given = conditions(attributes={"asset": {"domain": stated}})
    assert given.outcome(ANN, Facts("id", attributes=attributes), Context()) is holds


def test_an_attribute_of_the_principal_that_is_missing_is_unknown() -> None:
    given = conditions(attributes={"principal": {"team": "finance"}})
    outcomes = [
        given.outcome(Principal("ann", attributes=attributes), ORDERS, Context())
        for attributes in ({"team": "finance"}, {"team": "hr"}, {"team": None}, {})
    ]
    assert outcomes == [True, False, None, None]


def test_the_memory_of_a_context_does_not_mix_conditions_or_principals() -> None:
    context = Context(MONDAY_NOON)
    mondays, tuesdays = conditions(weekdays=["mon"]), conditions(weekdays=["tue"])
    team = conditions(weekdays=["mon"], attributes={"principal": {"team": "x"}})
    for _ in range(2):
        assert mondays.outcome(ANN, ORDERS, context) is True
        assert tuesdays.outcome(ANN, ORDERS, context) is False
        assert team.outcome(Principal("ann", attributes={"team": "x"}), ORDERS, context) is True
        assert team.outcome(Principal("bob", attributes={"team": "y"}), ORDERS, context) is False


def test_a_context_needs_a_time_with_a_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Context(datetime(2026, 3, 2))  # noqa: DTZ001


@pytest.mark.parametrize("empty", [None, {}])
def test_no_conditions(empty: Any) -> None:
    assert parse_conditions(Checker(), empty) is None


@pytest.mark.parametrize(
    ("given", "entity"),
    [
        ([], "conditions"),
        ("always", "conditions"),
        ({"tme": {}}, "conditions.tme"),
        ({"time": {}}, "conditions.time"),
        ({"time": "09:00"}, "conditions.time"),
        ({"time": {"from": "09:00"}}, "conditions.time.to"),
        ({"time": {"from": "9:00", "to": "17:00"}}, "conditions.time.from"),
        ({"time": {"from": "24:00", "to": "17:00"}}, "conditions.time.from"),
        ({"time": {"from": "09:00", "to": "25:00"}}, "conditions.time.to"),
        ({"time": {"from": "09:00", "to": "09:00"}}, "conditions.time"),
        ({"time": {"from": 9, "to": 17}}, "conditions.time.from"),
        ({"time": {"from": "09:00", "to": "10:00", "timezone": "Europe/Berln"}}, "conditions.time.timezone"),
        ({"time": {"from": "09:00", "to": "10:00", "timezone": "../etc/passwd"}}, "conditions.time.timezone"),
        ({"time": {"from": "09:00", "to": "10:00", "timezone": "Europe"}}, "conditions.time.timezone"),
        ({"time": {"from": "09:00", "to": "10:00", "timezone": 1}}, "conditions.time.timezone"),
        ({"time": {"timezone": "UTC"}}, "conditions.time.timezone"),
        ({"time": {"not_before": "2026-03-01"}}, "conditions.time.not_before"),
        ({"time": {"not_before": "2026-03-01T00:00:00"}}, "conditions.time.not_before"),
        ({"time": {"not_after": 5}}, "conditions.time.not_after"),
        ({"time": {"not_before": EARLIER, "not_after": EARLIER}}, "conditions.time.not_before"),
        ({"weekdays": []}, "conditions.weekdays"),
        ({"weekdays": "monday"}, "conditions.weekdays"),
        ({"weekdays": ["mo"]}, "conditions.weekdays[0]"),
        ({"networks": []}, "conditions.networks"),
        ({"networks": ["10.0.0.0/33"]}, "conditions.networks[0]"),
        ({"networks": ["10.0.0.1/8"]}, "conditions.networks[0]"),
        ({"networks": ["localhost"]}, "conditions.networks[0]"),
        ({"networks": [167772160]}, "conditions.networks[0]"),
        ({"purpose": []}, "conditions.purpose"),
        ({"purpose": [1]}, "conditions.purpose[0]"),
        ({"attributes": []}, "conditions.attributes"),
        ({"attributes": {"domain": "x"}}, "conditions.attributes.domain"),
        ({"attributes": {"asset": {}}}, "conditions.attributes.asset"),
        ({"attributes": {"asset": {"domain": None}}}, "conditions.attributes.asset.domain"),
        ({"attributes": {"asset": {"domain": []}}}, "conditions.attributes.asset.domain"),
        ({"attributes": {"asset": {"domain": {"x": 1}}}}, "conditions.attributes.asset.domain"),
        ({"attributes": {"asset": {"$type": "x"}}}, "conditions.attributes.asset.$type"),
    ],
)  # fmt: skip
def test_a_bad_condition_is_refused_with_its_field(given: Any, entity: str) -> None:
    checker = Checker()
    parse_conditions(checker, given)
    assert entity in [problem.entity for problem in checker.problems]


def test_a_network_with_host_bits_gets_a_hint() -> None:
    checker = Checker()
    parse_conditions(checker, {"networks": ["10.0.0.1/8"]})
    assert "did you mean `10.0.0.0/8`?" in checker.problems[0].description
