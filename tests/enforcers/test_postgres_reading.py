"""What people see in an enforced PostgreSQL database, as themselves."""

import hashlib
from datetime import UTC, date, datetime

import pytest

from tests.enforcers.target import LOADER, OWNER, Target, apply, in_line

MASKED = "select id, name, email, country from shop_masked.customers order by id"
EMAIL = "ann.mueller@example.org"


def test_a_masked_column_is_masked_in_the_view_and_refused_in_the_table(target: Target) -> None:
    enforcer = target.enforcer()
    decisions = [
        target.decision("shop.customers", ["ann", "bob"], "allow"),
        target.decision("shop.customers", ["ann"], "mask", "email", mask="show-last-4"),
    ]
    assert not apply(enforcer, decisions)
    shown = target.seen("ann", MASKED)
    assert shown == [
        (1, "Ann Müller", "x" * 19 + ".org", "DE"),
        (2, "Bob", "xxxxxxxxxxx.org", "FR"),
        (3, None, None, "DE"),
    ]
    assert target.seen("bob", MASKED) == target.seen(
        OWNER, "select id, name, email, country from shop.customers order by id"
    )
    assert target.seen("Eve O'Neil", MASKED) == "refused"
    assert target.seen("ann", "select id, name from shop.customers where country = 'FR'") == [(2, "Bob")]
    assert target.seen("ann", "select email from shop.customers") == "refused"
    assert target.seen("ann", "select * from shop.customers") == "refused"
    assert target.seen("ann", "select c from shop.customers as c") == "refused"
    assert target.seen("ann", "select id from shop.customers where email like 'a%'") == "refused"
    assert target.seen("ann", "select count(*) from shop.customers") == [(3,)]


def test_the_same_query_is_clear_again_when_the_tag_is_gone(target: Target) -> None:
    enforcer = target.enforcer()
    allow = target.decision("shop.customers", ["ann"], "allow")
    apply(enforcer, [allow, target.decision("shop.customers", ["ann"], "mask", "email", mask="replace-with-null")])
    query = "select email from shop_masked.customers where id = 1"
    assert target.seen("ann", query) == [(None,)]
    apply(enforcer, [allow])
    assert target.seen("ann", query) == [(EMAIL,)]
    assert target.seen("ann", "select email from shop.customers where id = 1") == [(EMAIL,)]


def test_a_denied_column_is_refused_in_both(target: Target) -> None:
    apply(
        target.enforcer(),
        [
            target.decision("shop.customers", ["ann"], "allow"),
            target.decision("shop.customers", ["ann"], "deny", "email"),
        ],
    )
    for schema in ("shop", "shop_masked"):
        assert target.seen("ann", f"select email from {schema}.customers") == "refused"
        assert target.seen("ann", f"select * from {schema}.customers") == "refused"
        assert target.seen("ann", f"select count(id) from {schema}.customers") == [(3,)]


def test_a_row_filter_holds_in_the_table_and_in_the_view(target: Target) -> None:
    enforcer = target.enforcer()
    decisions = [
        target.decision("shop.customers", ["ann"], "row-filter", row_filters=("COUNTRY = 'DE'", "id < 3")),
        target.decision("shop.customers", ["bob"], "allow"),
    ]
    assert not apply(enforcer, decisions)
    for schema in ("shop", "shop_masked"):
        query = f"select id from {schema}.customers order by id"
        assert target.seen("ann", query) == [(1,)]
        assert target.seen("bob", query) == [(1,), (2,), (3,)]
    assert target.seen(OWNER, "select count(*) from shop.customers") == [(3,)]
    assert in_line(enforcer, decisions)


def test_those_who_write_can_still_write_to_a_filtered_table(target: Target) -> None:
    target.run("grant usage on schema shop to loader; grant insert, delete, update on shop.customers to loader", OWNER)
    enforcer = target.enforcer()
    apply(enforcer, [target.decision("shop.customers", ["ann"], "row-filter", row_filters=("country = 'DE'",))])
    target.run("insert into shop.customers (id, country) values (4, 'DE'), (5, 'FR')", user=LOADER)
    target.run("update shop.customers set name = 'Cat'", user=LOADER)
    assert target.seen("ann", "select id, name from shop.customers order by id") == [(1, "Cat"), (3, "Cat"), (4, "Cat")]
    assert target.seen(LOADER, "select id from shop.customers") == "refused"


def test_a_row_filter_of_a_column_hides_its_value(target: Target) -> None:
    apply(
        target.enforcer(),
        [
            target.decision("shop.customers", ["ann"], "allow"),
            target.decision("shop.customers", ["ann"], "row-filter", "name", row_filters=("country = 'DE'",)),
        ],
    )
    assert target.seen("ann", "select id, name from shop_masked.customers order by id") == [
        (1, "Ann Müller"),
        (2, None),
        (3, None),
    ]
    assert target.seen("ann", "select name from shop.customers") == "refused"


@pytest.mark.parametrize(
    ("column", "mask", "value", "shown"),
    [
        ("name", "mask-alphanum", None, "xxx xxxxxx"),
        ("email", "mask-alphanum", None, "xxx.xxxxxxx@xxxxxxx.xxx"),
        ("name", "show-first-4", None, "Ann xxxxxx"),
        ("name", "show-last-4", None, "xxxxxxller"),
        ("name", "replace-with-null", None, None),
        ("name", "mask-to-fixed-value", None, "xxxx"),
        ("name", "mask-to-fixed-value", "it's a secret", "it's a secret"),
        ("email", "mask-to-fixed-value", "y" * 50, "y" * 40),
        ("id", "mask-to-fixed-value", None, 0),
        ("id", "mask-to-fixed-value", 7, 7),
        ("id", "mask-to-fixed-value", "seven", None),
        ("born", "mask-to-fixed-value", None, date(1970, 1, 1)),
        ("born", "mask-to-fixed-value", "2000-02-31", None),
        ("born", "truncate-to-year", None, date(1980, 1, 1)),
        ("born", "truncate-to-month", None, date(1980, 5, 1)),
        ("seen", "truncate-to-month", None, datetime(2026, 3, 1, tzinfo=UTC)),
        ("born", "show-last-4", None, None),
        ("id", "sha-256-global", None, None),
        ("name", "truncate-to-year", None, None),
        ("name", "sha-256-global", None, hashlib.sha256("Ann Müller".encode()).hexdigest()),
    ],
)
def test_each_mask_shows_what_it_promises_and_null_where_the_type_cannot_take_it(
    shop: Target, column: str, mask: str, value: str | int | None, shown: object
) -> None:
    decision = shop.decision("shop.customers", ["ann"], "allow")
    masked = shop.decision("shop.customers", ["ann"], "mask", column, mask=mask, mask_value=value)
    assert not apply(shop.enforcer(), [decision, masked])
    assert shop.seen("ann", f"select {column} from shop_masked.customers where country = 'DE' limit 1") == [(shown,)]


def test_a_hash_of_the_query_is_the_same_within_it_and_another_in_the_next(target: Target) -> None:
    target.run("insert into shop.customers (id, name) values (9, 'Bob')", user=OWNER)
    decision = target.decision("shop.customers", ["ann"], "allow")
    masked = target.decision("shop.customers", ["ann"], "mask", "name", mask="sha-256-query-local")
    apply(target.enforcer(), [decision, masked])
    query = "select name from shop_masked.customers where id in (2, 9)"
    (first,), (second,) = target.seen("ann", query)
    assert first == second
    assert len(str(first)) == 64
    assert (first,) not in target.seen("ann", query)
    assert target.seen("ann", "select salt from lily_enforcement.salt") == "refused"


def test_names_with_quotes_capitals_and_umlauts(target: Target) -> None:
    odd = 'Odd "Schema".Straße "1"'
    decisions = [
        target.decision(odd, ["Eve O'Neil", "größe"], "row-filter", row_filters=('"E-Mail" is not null', "id = 1")),
        target.decision(odd, ["Eve O'Neil", "größe"], "mask", "E-Mail", mask="show-last-4"),
    ]
    enforcer = target.enforcer()
    assert not apply(enforcer, decisions)
    view = '"Odd ""Schema""_masked"."Straße ""1"""'
    assert target.seen("Eve O'Neil", f"select * from {view}") == [(1, "xxxxxxxxx.org")]
    assert target.seen("Eve O'Neil", 'select "Id" from "Odd ""Schema"""."Straße ""1"""') == [(1,)]
    assert in_line(enforcer, decisions)


def test_a_member_does_not_get_through_its_group_what_it_is_denied(target: Target) -> None:
    """bob is in analyst and hr. hr may read the email, bob may not: neither as himself nor as hr."""
    enforcer = target.enforcer()
    decisions = [
        target.decision("shop.customers", ["analyst", "hr", "bob"], "allow"),
        target.decision("shop.customers", ["bob"], "mask", "email", mask="replace-with-null"),
        target.decision("shop.customers", ["bob"], "deny", "name"),
    ]
    plan = enforcer.plan(decisions)
    assert {one.subject for one in plan.findings} == {"analyst", "hr"}
    assert not enforcer.apply(plan)
    assert target.seen("bob", "select email from shop.customers") == "refused"
    assert target.seen("bob", "select email from shop_masked.customers where id = 1") == [(None,)]
    target.run("set role hr", user="bob")
    assert target.seen("bob", "select email from shop.customers") == "refused"
    assert target.seen("bob", "select email from shop_masked.customers where id = 1") == [(None,)]
    assert target.seen("bob", "select name from shop_masked.customers") == "refused"
    assert in_line(enforcer, decisions)


def test_the_row_filter_of_one_member_does_not_open_a_column_for_the_others(target: Target) -> None:
    """ann's rows are filtered as the column is for everyone, so she may read it in the table. The group may not: bob,
    who has its privileges, sees all rows."""
    enforcer, roles = target.enforcer(), ["analyst", "bob", "ann"]
    decisions = [
        target.decision("shop.customers", ["analyst", "bob"], "allow"),
        target.decision("shop.customers", ["ann"], "row-filter", row_filters=("country = 'DE'",)),
        target.decision("shop.customers", roles, "row-filter", "email", row_filters=("country = 'DE'",)),
    ]
    assert not apply(enforcer, decisions)
    assert target.seen("bob", "select email from shop.customers") == "refused"
    assert target.seen("bob", "select email from shop_masked.customers where id = 2") == [(None,)]
    assert target.seen("ann", "select id from shop.customers where email is not null") == [(1,)]
    target.run("set role analyst", user="bob")
    assert target.seen("bob", "select email from shop.customers") == "refused"
    assert in_line(enforcer, decisions)


def test_a_new_member_of_a_group_is_decided_before_it_sees_more(target: Target) -> None:
    """Until the next refresh it has its group's privileges on the table, and the view shows it nothing."""
    enforcer = target.enforcer()
    decisions = [
        target.decision("shop.customers", ["analyst", "ann", "bob"], "allow"),
        target.decision("shop.customers", ["analyst", "ann", "bob"], "mask", "email", mask="show-last-4"),
    ]
    apply(enforcer, decisions)
    with target.person("carla", "analyst"):
        assert target.seen("carla", "select id from shop_masked.customers") == []
        assert target.seen("carla", "select email from shop.customers") == "refused"
        assert not in_line(enforcer, decisions)
        apply(enforcer, decisions)
        assert target.seen("carla", "select id from shop.customers") == "refused"
        assert target.seen("ann", "select count(id) from shop.customers") == [(3,)]


def test_an_ignored_role_keeps_what_it_has(target: Target) -> None:
    target.run("grant usage on schema shop to loader; grant select on shop.customers to loader", user=OWNER)
    enforcer = target.enforcer(ignored_roles=[LOADER])
    decisions = [target.decision("shop.customers", ["ann"], "row-filter", row_filters=("country = 'DE'",))]
    apply(enforcer, decisions)
    assert target.seen(LOADER, "select count(*) from shop.customers") == [(3,)]
    assert target.seen(LOADER, "select count(*) from shop_masked.customers") == [(3,)]
    loader = next(role for role in enforcer.inventory().roles if role.name == LOADER)
    assert "ignored_roles" in loader.unrestricted


def test_a_condition_of_the_user_never_sees_the_value_behind_a_mask(target: Target) -> None:
    """The function runs with the rights of the one who asks, before or after the mask as the planner likes."""
    target.run("create schema ann authorization ann")
    target.run(
        "create function ann.spy(text) returns boolean language plpgsql cost 0.0001 as "
        "$$ begin raise notice '%', $1; return true; end $$",
        user="ann",
    )
    apply(
        target.enforcer(),
        [
            target.decision("shop.customers", ["ann"], "row-filter", row_filters=("country = 'DE'",)),
            target.decision("shop.customers", ["ann"], "mask", "email", mask="replace-with-null"),
        ],
    )
    notices: list[str] = []
    target.connection("ann").add_notice_handler(lambda one: notices.append(one.message_primary or ""))
    target.seen("ann", "select id from shop_masked.customers where ann.spy(email) and ann.spy(name)")
    target.seen("ann", "select id from shop.customers where ann.spy(name)")
    assert "Ann Müller" in notices
    assert not [one for one in notices if "@" in one or "Bob" in one]
