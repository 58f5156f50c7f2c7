"""Which quality policies are accepted, and what an incomplete one means."""

from typing import Any

import pytest

from lily.model import ids
from lily.model.errors import Refused
from lily.quality.parsing import parse_quality_policy
from lily.quality.policies import POLICY_TYPES, RULES, QualityPolicy

SHORTEST: dict[str, dict[str, Any]] = {
    "query_spike": {"threshold": 1000},
    "unused_for_x_days": {"threshold": 30, "filters": {"entity_types": ["table"]}},
    "orphaned_asset": {"filters": {"entity_types": ["table"]}},
}


def parse(body: Any) -> QualityPolicy:
    return parse_quality_policy(body, tenant="acme", policy_id="p1")


def refused(body: Any) -> set[tuple[str, str]]:
    with pytest.raises(Refused) as caught:
        parse(body)
    return {(problem.code, problem.entity) for problem in caught.value.problems}


@pytest.mark.parametrize("policy_type", POLICY_TYPES)
@pytest.mark.parametrize("asset", ["*", "shop.orders"])
def test_every_type_is_complete_with_little_and_reads_back_as_it_is_shown(policy_type: str, asset: str) -> None:
    policy = parse({"asset": asset, "policy_type": policy_type, **SHORTEST.get(policy_type, {})})
    shown = policy.as_dict()
    assert shown.pop("id") == "p1"
    assert parse(shown) == policy
    assert policy.severity == RULES[policy.policy_type].severity


def test_a_deviation_is_15_percent_of_7_days_unless_it_is_stated() -> None:
    policy = parse({"asset": "shop.orders", "policy_type": "query_count_deviation"})
    assert (policy.threshold, policy.days) == (15, 7)


def test_an_asset_is_named_by_id_or_by_name() -> None:
    identity = ids.asset_id("acme", "shop.orders")
    named = parse({"asset": "shop.orders", "policy_type": "deleted_asset"})
    assert named.asset_id == identity
    assert parse({"asset": identity, "policy_type": "deleted_asset"}).asset_id == identity
    assert parse({"asset": "*", "policy_type": "deleted_asset"}).asset_id is None


def test_a_policy_for_all_assets_watches_the_types_of_its_rule_and_one_for_an_asset_any_type() -> None:
    assert parse({"asset": "*", "policy_type": "traffic_drop"}).watched_types == ("dashboard",)
    assert parse({"asset": "bi.revenue", "policy_type": "traffic_drop"}).watched_types == ()
    stated = {"asset": "*", "policy_type": "traffic_drop", "filters": {"entity_types": ["report"]}}
    assert parse(stated).watched_types == ("report",)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"policy_type": "query_spikes"}, ("INVALID_VALUE", "policy_type")),
        ({"policy_type": None}, ("INVALID_VALUE", "policy_type")),
        ({"policy_type": ["query_spike"]}, ("INVALID_VALUE", "policy_type")),
        ({"asset": None}, ("INVALID_TYPE", "asset")),
        ({"asset": "x" * 2000}, ("TOO_LONG", "asset")),
        ({"name": []}, ("INVALID_TYPE", "name")),
        ({"asset": {}}, ("INVALID_TYPE", "asset")),
        ({"filters": {"data_sources": {"a": 1}}}, ("INVALID_TYPE", "filters.data_sources")),
        ({"threshold": None}, ("MISSING_FIELD", "threshold")),
        ({"threshold": -1}, ("INVALID_VALUE", "threshold")),
        ({"threshold": True}, ("INVALID_VALUE", "threshold")),
        ({"threshold": "many"}, ("INVALID_VALUE", "threshold")),
        ({"days": 0}, ("INVALID_VALUE", "days")),
        ({"days": 7.5}, ("INVALID_VALUE", "days")),
        ({"days": 91}, ("INVALID_VALUE", "days")),
        ({"delay_hours": 49}, ("INVALID_VALUE", "delay_hours")),
        ({"severity": "fatal"}, ("INVALID_VALUE", "severity")),
        ({"tresholds": 1}, ("UNKNOWN_FIELD", "tresholds")),
        ({"filters": []}, ("INVALID_TYPE", "filters")),
        ({"filters": {"entity_type": ["table"]}}, ("UNKNOWN_FIELD", "filters.entity_type")),
        ({"filters": {"entity_types": ["tables"]}}, ("INVALID_VALUE", "filters.entity_types")),
        ({"filters": {"entity_types": "table"}}, ("INVALID_TYPE", "filters.entity_types")),
        ({"filters": {"minimum": -1}}, ("INVALID_VALUE", "filters.minimum")),
    ],
)
def test_a_wrong_value_is_refused_by_name(change: dict[str, Any], problem: tuple[str, str]) -> None:
    body = {"asset": "shop.orders", "policy_type": "query_spike", "threshold": 1000} | change
    assert problem in refused(body)


def test_rules_about_unused_assets_have_to_name_what_is_queried() -> None:
    for policy_type in ("unused_for_x_days", "orphaned_asset"):
        body = {"asset": "*", "policy_type": policy_type, "threshold": 30}
        assert refused(body) == {("MISSING_FIELD", "filters.entity_types")}
        assert parse(body | {"asset": "shop.orders"}).threshold == 30


def test_a_rule_without_a_unit_takes_no_threshold() -> None:
    assert refused({"asset": "*", "policy_type": "deleted_asset", "threshold": 1}) == {("INVALID_VALUE", "threshold")}


@pytest.mark.parametrize("body", [None, [], "text", 1])
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    assert ("INVALID_TYPE", "body") in refused(body)
