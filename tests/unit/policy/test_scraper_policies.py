"""What the token of a scraper group may read and write."""

from typing import Any

import pytest

from lily.policy import Facts, ScraperDecision, ScraperIndex, parse_scraper_policy

TABLE = Facts("1", "shop.public.orders", "table", "Warehouse")
EMAIL = Facts("2", "shop.public.orders.email", "column", "Warehouse")
OTHER = Facts("3", "shop.publicity.email", "column", "warehouse")
CRM = Facts("4", "crm.people", "table", "crm")
ALL = (TABLE, EMAIL, OTHER, CRM)


def allowed(*policies: dict[str, Any], group: str = "nightly") -> list[bool]:
    index = ScraperIndex(
        parse_scraper_policy({"name": "p", "scraper_group": "Nightly"} | policy, policy_id=f"s{number}")
        for number, policy in enumerate(policies)
    )
    return [index.may_write(group, facts).allowed for facts in ALL]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"sources": ["warehouse"]}, [True, True, True, False]),
        ({"sources": ["*"]}, [True, True, True, True]),
        ({"entity_types": ["Table"]}, [True, False, False, True]),
        ({"sources": ["warehouse"], "entity_types": ["table"]}, [True, False, False, False]),
        ({"allowed_columns": ["SHOP.public.orders.email"]}, [False, True, False, False]),
        ({"allowed_columns": ["shop.public.*"]}, [False, True, False, False]),
        ({"allowed_columns": ["shop.public"]}, [False, False, False, False]),
        ({"allowed_columns": ["*"]}, [False, True, True, False]),
        ({"sources": ["warehouse"], "allowed_columns": ["shop.publicity.email"]}, [True, False, True, False]),
    ],
)
def test_a_policy_covers(policy: dict[str, Any], expected: list[bool]) -> None:
    assert allowed(policy) == expected


def test_what_no_policy_covers_is_denied() -> None:
    assert allowed() == [False] * 4
    assert allowed({"sources": ["*"]}, group="weekly") == [False] * 4


def test_policies_of_a_group_add_up_one_by_one() -> None:
    crm_tables, shop_columns = {"sources": ["crm"]}, {"allowed_columns": ["shop.public.*"]}
    assert allowed(crm_tables, shop_columns) == [False, True, False, True]


def test_a_decision_names_its_policy_or_what_is_missing() -> None:
    policy = parse_scraper_policy({"name": "shop", "scraper_group": "g", "sources": ["warehouse"]}, policy_id="s1")
    index = ScraperIndex([policy])
    assert index.may_write("G", TABLE) == ScraperDecision(
        allowed=True, policy_id="s1", reason="scraper policy 'shop' covers it"
    )
    assert index.may_write("g", CRM).reason == "no scraper policy of the group 'g' covers this asset"
    assert index.may_write("h", CRM).reason == "no scraper policy of the group 'h' exists"
    assert policy.as_dict() == {"name": "shop", "scraper_group": "g", "sources": ["warehouse"]}
