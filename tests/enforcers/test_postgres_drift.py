"""What someone changes by hand in an enforced database is noticed, and repaired."""

from collections.abc import Sequence

import pytest

from lily.plugins import Decision
from tests.enforcers.target import OWNER, Target, apply, in_line


def decisions(target: Target) -> Sequence[Decision]:
    return [
        target.decision("shop.customers", ["ann", "analyst"], "allow"),
        target.decision("shop.customers", ["ann", "analyst"], "mask", "email", mask="show-last-4"),
        target.decision("shop.customers", ["bob"], "row-filter", row_filters=("country = 'DE'",)),
        target.decision("shop.orders", ["ann"], "allow"),
    ]


BY_HAND = {
    "a dropped view": "drop view shop_masked.customers",
    "a view without its masks": "create or replace view shop_masked.customers as select * from shop.customers",
    "a view that anyone can look behind": "alter view shop_masked.customers reset (security_barrier)",
    "a column of a view renamed": "alter view shop_masked.customers rename column name to called",
    "another view in its place": "drop view shop_masked.customers; create view shop_masked.customers as select 1",
    "the schema of the views dropped": "drop schema shop_masked cascade",
    "a grant": "grant select (email) on shop.customers to ann",
    "a grant to all": "grant select on shop.customers to public",
    "a grant to a group": "grant select on shop.customers to analyst",
    "a grant on the view": "grant select on shop_masked.customers to public",
    "a grant with grant option": "grant select (id) on shop.customers to ann with grant option",
    "a revoked grant": "revoke select (id) on shop.customers from ann, analyst",
    "a revoked schema": "revoke usage on schema shop from ann, analyst",
    "row-level security disabled": "alter table shop.customers disable row level security",
    "a dropped policy": "drop policy lily_read on shop.customers",
    "a changed policy": "alter policy lily_read on shop.customers using (true)",
    "a column dropped with what depends on it": "alter table shop.customers drop column country cascade",
    "a column renamed": "alter table shop.orders rename column amount to sum",
    "a column added": "alter table shop.orders add column note text",
    "a column of another type": "drop view shop_masked.orders; alter table shop.orders alter column amount type text",
}


@pytest.mark.parametrize("change", BY_HAND.values(), ids=BY_HAND.keys())
def test_a_change_by_hand_is_found_and_repaired(target: Target, change: str) -> None:
    enforcer, decided = target.enforcer(), decisions(target)
    assert not apply(enforcer, decided)
    assert in_line(enforcer, decided)
    target.run(change)
    assert not in_line(enforcer, decided)
    assert not apply(enforcer, decided)
    assert in_line(enforcer, decided)
    assert target.seen("ann", "select email from shop.customers") == "refused"
    assert target.seen("ann", "select email from shop_masked.customers where id = 1") == [("x" * 19 + ".org",)]
    assert target.seen("Eve O'Neil", "select count(*) from shop.customers") == "refused"


def test_a_membership_given_by_hand_is_found(target: Target) -> None:
    """hr may read what Eve may not. As a member she would have it too."""
    enforcer = target.enforcer()
    decided = [target.decision("shop.customers", ["hr", "bob"], "allow")]
    apply(enforcer, decided)
    target.run('grant hr to "Eve O\'Neil"')
    try:
        assert target.seen("Eve O'Neil", "select count(id) from shop.customers") == [(3,)]
        assert not in_line(enforcer, decided)
        assert not apply(enforcer, decided)
        assert target.seen("Eve O'Neil", "select count(id) from shop.customers") == "refused"
        assert target.seen("bob", "select count(id) from shop.customers") == [(3,)]
    finally:
        target.run('revoke hr from "Eve O\'Neil"')


def test_a_role_that_reads_everything_is_reported_because_nothing_can_restrict_it(target: Target) -> None:
    enforcer = target.enforcer()
    with target.person("carla"):
        target.run("grant pg_read_all_data to carla")
        decided = [target.decision("shop.customers", ["carla"], "deny")]
        apply(enforcer, decided)
        assert "carla" in {one.subject for one in enforcer.plan(decided).findings}
        assert [one.found for one in enforcer.verify(decided) if "carla reads everything" in one.found]


def test_row_level_security_that_the_owner_enables_later_is_respected(target: Target) -> None:
    """The masking view would circumvent it, so there is none any more."""
    enforcer = target.enforcer()
    decided = decisions(target)[:2]
    apply(enforcer, decided)
    target.run("alter table shop.customers enable row level security", user=OWNER)
    target.run("create policy own on shop.customers using (id = 1)", user=OWNER)
    assert not apply(enforcer, decided)
    assert in_line(enforcer, decided)
    assert target.seen("ann", "select id from shop.customers") == [(1,)]
    assert target.seen("ann", "select id from shop.customers where email is null") == "refused"
    findings = [one.description for one in enforcer.plan(decided).findings if "customers" in one.subject]
    assert any("cannot be read at all" in one for one in findings)
    enforcer.remove()
    assert target.admin.execute("select relrowsecurity from pg_class where relname = 'customers'").fetchone() == (True,)
