"""What is not a plain table: supported, or reported."""

from tests.enforcers.target import OWNER, Target, apply, in_line


def test_the_inventory_lists_what_can_be_read(target: Target) -> None:
    target.run(
        "create view shop.names as select id, name from shop.customers; "
        "create materialized view shop.totals as select sum(amount) as total from shop.orders; "
        "create table shop.events (at date, what text) partition by range (at); "
        "create table shop.events_2026 partition of shop.events for values from ('2026-01-01') to ('2027-01-01')",
        user=OWNER,
    )
    target.run("create foreign data wrapper nowhere; create server nowhere foreign data wrapper nowhere")
    target.run(f"create foreign table shop.far (id int) server nowhere; alter foreign table shop.far owner to {OWNER}")
    enforcer = target.enforcer()
    apply(enforcer, [target.decision("shop.customers", ["ann"], "allow")])
    found = enforcer.inventory()
    assert {table.path[1:]: table.kind for table in found.tables} == {
        ("shop", "customers"): "table",
        ("shop", "orders"): "table",
        ("shop", "names"): "view",
        ("shop", "totals"): "materialized view",
        ("shop", "events"): "partitioned table",
        ("shop", "far"): "foreign table",
        ('Odd "Schema"', 'Straße "1"'): "table",
    }
    roles = {role.name: role for role in found.roles}
    assert roles["bob"].member_of == ("analyst", "hr")
    assert roles["bob"].login
    assert not roles["hr"].login
    assert "superuser" in roles["lily"].unrestricted
    assert [name for name in roles if name.startswith("pg_")] == []
    customers = next(table for table in found.tables if table.path[2] == "customers")
    assert ("email", "character varying(40)") in customers.columns


def test_only_the_configured_schemas_are_touched(target: Target) -> None:
    enforcer = target.enforcer(schemas=["shop"])
    assert {table.path[1] for table in enforcer.inventory().tables} == {"shop"}
    odd = target.decision('Odd "Schema".Straße "1"', ["ann"], "allow")
    assert not enforcer.plan([odd]).steps


def test_views_and_materialized_views_are_masked_and_filtered(target: Target) -> None:
    """They cannot have row-level security, so a filtered role reads their masking views alone."""
    target.run("create view shop.names as select id, name, country from shop.customers", user=OWNER)
    target.run(
        "create materialized view shop.countries as select country, count(*) from shop.customers group by 1", OWNER
    )
    decided = [
        target.decision("shop.names", ["ann"], "row-filter", row_filters=("country = 'DE'",)),
        target.decision("shop.names", ["ann"], "mask", "name", mask="show-first-4"),
        target.decision("shop.countries", ["ann"], "row-filter", row_filters=("country = 'DE'",)),
        target.decision("shop.countries", ["bob"], "allow"),
    ]
    enforcer = target.enforcer()
    assert not apply(enforcer, decided)
    assert target.seen("ann", "select name from shop_masked.names order by id") == [("Ann xxxxxx",), (None,)]
    assert target.seen("ann", "select id from shop.names") == "refused"
    assert target.seen("ann", "select * from shop_masked.countries") == [("DE", 2)]
    assert target.seen("ann", "select * from shop.countries") == "refused"
    assert target.seen("bob", "select count from shop.countries order by 1") == [(1,), (2,)]
    assert in_line(enforcer, decided)
    enforcer.remove()


def test_partitions_are_read_through_their_table_alone(target: Target) -> None:
    target.run(
        "create table shop.events (at date, what text) partition by range (at); "
        "create table shop.events_2026 partition of shop.events for values from ('2026-01-01') to ('2027-01-01'); "
        "insert into shop.events values ('2026-05-01', 'a'), ('2026-06-01', 'b'); "
        "grant usage on schema shop to ann; grant select on shop.events, shop.events_2026 to ann",
        user=OWNER,
    )
    before = target.state()
    enforcer = target.enforcer()
    decided = [target.decision("shop.events", ["ann"], "row-filter", row_filters=("what = 'a'",))]
    assert not apply(enforcer, decided)
    for name in ("shop.events", "shop_masked.events"):
        assert target.seen("ann", f"select what from {name}") == [("a",)]
    assert target.seen("ann", "select what from shop.events_2026") == "refused"
    target.run("grant select on shop.events_2026 to ann", user=OWNER)
    assert not in_line(enforcer, decided)
    assert not apply(enforcer, decided)
    assert target.seen("ann", "select what from shop.events_2026") == "refused"
    part = target.decision("shop.events_2026", ["ann"], "allow")
    assert any("events_2026" in one.subject for one in enforcer.plan([*decided, part]).findings)
    enforcer.remove()
    assert target.state() == before


def test_a_partition_of_a_partition_is_closed_too(target: Target) -> None:
    target.run(
        "create table shop.events (at date, what text) partition by range (at); "
        "create table shop.events_2026 partition of shop.events for values from ('2026-01-01') to ('2027-01-01') "
        "partition by list (what); "
        "create table shop.events_2026_b partition of shop.events_2026 for values in ('b'); "
        "grant usage on schema shop to ann; grant select on shop.events_2026_b to ann",
        user=OWNER,
    )
    decided = [target.decision("shop.events", ["ann"], "row-filter", row_filters=("what = 'a'",))]
    assert not apply(target.enforcer(), decided)
    assert target.seen("ann", "select what from shop.events_2026_b") == "refused"


def test_who_can_take_on_a_role_is_a_member_of_it(target: Target) -> None:
    with target.person("crew"), target.person("sam"):
        for options, above in (
            ("inherit false, set true", ("crew",)),
            ("inherit true, set false", ("crew",)),
            ("inherit false, set false", ()),
        ):
            target.run(f"grant crew to sam with {options}")
            (sam,) = (role for role in target.enforcer().inventory().roles if role.name == "sam")
            assert sam.member_of == above, options


def test_generated_columns_domains_enums_and_arrays(target: Target) -> None:
    target.run(
        "create domain shop.mail as text not null check (value like '%@%'); "
        "create type shop.mood as enum ('good', 'bad'); "
        "create table shop.odd (id int, mail shop.mail, upper text generated always as (upper(mail)) stored, "
        'mood shop.mood, tags text[], short char(6), "with space" jsonb, "t" uuid, "lily" bytea); '
        'insert into shop.odd (id, mail, mood, tags, short, "with space", t, lily) '
        "values (1, 'a.b@example.org', 'good', '{x,y}', 'abc', '{}', gen_random_uuid(), 'xyz')",
        user=OWNER,
    )
    columns = ["mail", "upper", "mood", "tags", "short", "with space", "t", "lily"]
    decided = [target.decision("shop.odd", ["ann"], "allow")]
    for mask in ("mask-alphanum", "sha-256-global", "mask-to-fixed-value", "truncate-to-year", "replace-with-null"):
        masked = [target.decision("shop.odd", ["ann"], "mask", column, mask=mask) for column in columns]
        enforcer = target.enforcer()
        assert not apply(enforcer, [*decided, *masked])
        assert in_line(enforcer, [*decided, *masked])
        (row,) = target.seen("ann", "select mail, upper, mood, tags, short from shop_masked.odd")
        assert row[2:4] == (None, None)
        if mask == "mask-alphanum":
            assert row == ("x.x@xxxxxxx.xxx", "x.x@xxxxxxx.xxx", None, None, "xxx   ")
        if mask == "replace-with-null":
            assert row == (None,) * 5
    assert not apply(enforcer, decided)
    assert target.seen("ann", "select mail, mood, tags from shop_masked.odd") == [
        ("a.b@example.org", "good", ["x", "y"])
    ]


def test_a_row_filter_that_the_table_cannot_have_denies_and_is_reported(target: Target) -> None:
    enforcer = target.enforcer()
    for row_filter in ("region = 'EU'", "country = 5", "id like 'x%'"):
        decided = [
            target.decision("shop.customers", ["ann"], "row-filter", row_filters=(row_filter,)),
            target.decision("shop.customers", ["bob"], "allow"),
        ]
        plan = enforcer.plan(decided)
        assert any(row_filter in one.description for one in plan.findings)
        assert not enforcer.apply(plan)
        assert target.seen("ann", "select id from shop_masked.customers") == "refused"
        assert target.seen("ann", "select id from shop.customers") == "refused"
        assert target.seen("bob", "select count(*) from shop.customers") == [(3,)]
        assert in_line(enforcer, decided)


def test_policies_that_are_not_in_force_are_not_put_into_force(target: Target) -> None:
    target.run("create policy dormant on shop.customers using (true)", user=OWNER)
    enforcer = target.enforcer()
    decided = [target.decision("shop.customers", ["ann"], "row-filter", row_filters=("country = 'DE'",))]
    plan = enforcer.plan(decided)
    assert any("not in force" in one.description for one in plan.findings)
    assert not enforcer.apply(plan)
    assert target.seen("ann", "select id from shop.customers") == "refused"
    assert target.seen("ann", "select id from shop_masked.customers order by id") == [(1,), (3,)]


def test_a_schema_that_has_the_name_of_the_masking_views_is_left_alone(target: Target) -> None:
    target.run("create schema shop_masked; create view shop_masked.customers as select 1 as one", user=OWNER)
    enforcer = target.enforcer()
    decided = [
        target.decision("shop.customers", ["ann"], "allow"),
        target.decision("shop.customers", ["ann"], "mask", "email", mask="show-last-4"),
    ]
    plan = enforcer.plan(decided)
    assert any("shop_masked" in one.description for one in plan.findings)
    assert not enforcer.apply(plan)
    assert target.seen("ann", "select email from shop.customers") == "refused"
    assert target.seen(OWNER, "select * from shop_masked.customers") == [(1,)]
    assert in_line(enforcer, decided)


def test_long_names_do_not_run_into_each_other(target: Target) -> None:
    for letter in "ab":
        target.run(f'create schema "{"s" * 60}{letter}"; create table "{"s" * 60}{letter}".t (id int)', user=OWNER)
    enforcer = target.enforcer()
    decided = [target.decision(f"{'s' * 60}{letter}.t", ["ann"], "allow") for letter in "ab"]
    assert not apply(enforcer, decided)
    assert in_line(enforcer, decided)
