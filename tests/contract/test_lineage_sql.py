"""Lineage from SQL, with the catalogue's own tables and columns."""

from typing import Any

import orjson
import pytest

from lily.model import ids
from tests.contract.access import create, policy
from tests.contract.door import WAIT, Door, codes, table


def columns(door: Door, parent: str, *names: str) -> None:
    """In bulk, so that they are only in the lake."""
    rows = [
        table(f"{parent}.{name}", "column", parent=parent, ordinal_position=position)
        for position, name in enumerate(names, 1)
    ]
    answer = door.http.post(
        "/ingest-metadata/bulk", content=orjson.dumps(rows), headers=WAIT | {"Content-Type": "application/json"}
    )
    assert answer.status_code == 200, answer.text


def ask(door: Door, sql: str, dialect: str = "postgres", **more: Any) -> dict[str, Any]:
    body = {"sql": sql, "dialect": dialect, "default_database": "shop", "default_schema": "public"} | more
    answer = door.http.post("/lineage/sql", json=body, headers=WAIT)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def pairs(told: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(edge["from"], edge["to"], edge["relationship_type"]) for edge in told["edges"]}


def test_a_star_is_expanded_from_the_catalogue_and_the_edges_are_stored(door: Door) -> None:
    door.ingest("shop.public.Orders")
    columns(door, "shop.public.Orders", "id", "Amount")
    told = ask(door, "create view totals as select * from orders")
    assert told["stored"] is True
    assert told["statements"] == 1
    assert pairs(told) == {
        ("shop.public.Orders", "shop.public.totals", "derived-from"),
        ("shop.public.Orders.id", "shop.public.totals.id", "derived-from"),
        ("shop.public.Orders.Amount", "shop.public.totals.amount", "derived-from"),
    }
    for edge in told["edges"]:
        assert edge["from_id"] == ids.asset_id(door.tenant, edge["from"])
        found = door.http.get(f"/lineage/{edge['from_id']}", params={"depth": 1}).json()["edges"]
        assert (edge["from_id"], edge["to_id"]) in {(item["from"], item["to"]) for item in found}


def test_a_dry_run_stores_nothing(door: Door) -> None:
    told = ask(door, "create view v as select x from t", dry_run=True)
    assert told["stored"] is False
    assert len(told["edges"]) == 2
    assert door.http.get(f"/lineage/{told['edges'][0]['from_id']}").status_code == 404


def test_a_name_in_another_case_is_the_catalogues(door: Door) -> None:
    for name in ("SHOP.PUBLIC.UPPER", "shop.public.lower", "Shop.Public.Mixed"):
        door.ingest(name)
    told = ask(door, "create view v as select u.a, l.b, m.c from Upper u, LOWER l, mixed m", "snowflake", dry_run=True)
    assert {start for start, _, _ in pairs(told)} >= {"SHOP.PUBLIC.UPPER", "shop.public.lower", "Shop.Public.Mixed"}


def test_a_plain_query_states_no_edge(door: Door) -> None:
    told = ask(door, "select * from orders")
    assert (told["edges"], told["stored"]) == ([], False)
    assert told["warnings"]


def downstream(door: Door, name: str) -> set[str]:
    found = door.http.get(f"/lineage/{ids.asset_id(door.tenant, name)}", params={"depth": 1})
    return {edge["to"] for edge in found.json()["edges"]} if found.status_code == 200 else set()


def test_a_view_that_is_defined_anew_replaces_the_edges_of_its_earlier_definition(door: Door) -> None:
    view = ids.asset_id(door.tenant, "shop.public.v")
    ask(door, "create view v as select a from one")
    ask(door, "insert into v (b) select b from three")
    assert view in downstream(door, "shop.public.one")
    ask(door, "create or replace view v as select a from two")
    assert view not in downstream(door, "shop.public.one")
    assert view in downstream(door, "shop.public.two")
    assert view in downstream(door, "shop.public.three")


def test_a_view_that_is_defined_anew_without_a_source_loses_the_edges_of_its_earlier_definition(door: Door) -> None:
    view = ids.asset_id(door.tenant, "shop.public.v")
    ask(door, "create view v as select email from one")
    ask(door, "insert into v (b) select b from three")
    assert view in downstream(door, "shop.public.one")
    found = ask(door, "create or replace view v as select 1 as email")
    assert (found["edges"], found["stored"]) == ([], True)
    assert view not in downstream(door, "shop.public.one")
    assert view in downstream(door, "shop.public.three")


def test_a_definition_that_is_not_understood_in_full_ends_no_edges(door: Door) -> None:
    ask(door, "create view v as select email from one")
    assert ask(door, "create or replace view v as select email")["stored"] is False
    assert ids.asset_id(door.tenant, "shop.public.v") in downstream(door, "shop.public.one")


def test_a_redefinition_does_not_touch_other_views(door: Door) -> None:
    ask(door, "create view v as select a from one; create view w as select a from one")
    ask(door, "create or replace view v as select a from two")
    assert downstream(door, "shop.public.one") == {ids.asset_id(door.tenant, "shop.public.w")}


def test_each_statement_is_counted_and_one_without_edges_is_named_with_its_reason(door: Door) -> None:
    told = ask(door, "create view v as select a from t;\nselect (1;\n  drop table x", dry_run=True)
    assert [told[count] for count in ("statements", "understood", "partial", "not_understood")] == [3, 2, 0, 1]
    broken, dropped = told["without_edges"]
    assert (broken["statement"], broken["line"], broken["column"], broken["status"]) == (2, 2, 1, "not_understood")
    assert "line 2" in broken["reason"]
    assert (dropped["line"], dropped["column"], dropped["status"]) == (3, 3, "understood")


def test_an_incomplete_list_of_columns_is_a_hint(door: Door) -> None:
    door.ingest("shop.public.people")
    row = table("shop.public.people.email", "column", parent="shop.public.people")
    door.http.post(
        "/ingest-metadata/bulk", content=orjson.dumps([row]), headers=WAIT | {"Content-Type": "application/json"}
    )
    sql = "create view v as with src as (select * from people) select id as person_id, email from src"
    told = ask(door, sql, dry_run=True)
    assert ("shop.public.people.id", "shop.public.v.person_id", "derived-from") in pairs(told)
    assert ("shop.public.people.email", "shop.public.v.person_id", "derived-from") not in pairs(told)
    assert told["partial"] == 1


def test_a_nested_field_is_followed_to_its_leaf(door: Door) -> None:
    door.ingest("shop.public.events")
    rows = [
        table("shop.public.events.device", "column", parent="shop.public.events", data_type="STRUCT<os STRING>"),
        table("shop.public.events.device.os", "column", parent="shop.public.events.device", data_type="STRING"),
    ]
    door.http.post(
        "/ingest-metadata/bulk", content=orjson.dumps(rows), headers=WAIT | {"Content-Type": "application/json"}
    )
    told = ask(door, "create view v as select e.device.os as os from events e", "bigquery", dry_run=True)
    assert ("shop.public.events.device.os", "shop.public.v.os", "derived-from") in pairs(told)


def test_the_rule_of_the_dialect_decides_between_names_that_differ_in_case(door: Door) -> None:
    for name in ("shop.public.t", "SHOP.PUBLIC.T"):
        door.ingest(name)
    sql = "create view v as select a from t"
    assert ("SHOP.PUBLIC.T", "shop.public.v", "derived-from") in pairs(ask(door, sql, "snowflake", dry_run=True))
    assert ("shop.public.t", "shop.public.v", "derived-from") in pairs(ask(door, sql, "postgresql", dry_run=True))


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ({"sql": "create view v as selec 1", "dialect": "postgres"}, "SQL_SYNTAX", "line 1, column"),
        ({"sql": "select 1", "dialect": "klingon"}, "UNKNOWN_DIALECT", "postgres"),
        ({"sql": "select " + "(" * 50_000, "dialect": "postgres"}, "TOO_COMPLEX", "nested"),
        ({"sql": " " * 300_000, "dialect": "postgres"}, "TOO_LONG", "split"),
    ],
)
def test_what_cannot_be_read_is_refused_with_why(door: Door, body: dict[str, Any], code: str, says: str) -> None:
    answer = door.http.post("/lineage/sql", json=body)
    assert (answer.status_code, codes(answer)) == (422, {code})
    assert says in answer.json()["errors"][0]["description"]


def test_a_script_of_ten_megabytes_is_refused(door: Door) -> None:
    answer = door.http.post("/lineage/sql", json={"sql": "select 1;\n" * 1_000_000, "dialect": "postgres"})
    assert (answer.status_code, codes(answer)) == (413, {"TOO_LARGE"})


@pytest.mark.parametrize(
    "body", [{}, {"sql": "select 1"}, {"sql": 7, "dialect": "postgres"}, {"query": "select 1"}, []]
)
def test_a_body_of_another_shape_is_refused(door: Door, body: Any) -> None:
    assert door.http.post("/lineage/sql", json=body).status_code == 400


def test_it_needs_the_scope(door: Door) -> None:
    with door.limited("metadata:write", "lineage:read") as limited:
        answer = limited.http.post("/lineage/sql", json={"sql": "select 1", "dialect": "postgres"})
        assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})


PEOPLE = "shop.public.people"
COPIES = [
    "alter table people rename to other",
    "create table other as select * from people",
    "create view other as select p.* from people p",
    "alter table people swap with other",
]


@pytest.fixture
def taken_away(door: Door) -> Door:
    """A table whose columns with tags were stated to be a table, moved and deleted, without authority."""
    for name in (PEOPLE, "shop.public.elsewhere"):
        door.ingest(name)
    columns(door, PEOPLE, "id")
    for position, name in enumerate(("ssn", "email", "phone"), 2):
        door.ingest(f"{PEOPLE}.{name}", "column", parent=PEOPLE, tags=["PII"], ordinal_position=position)
    with door.limited("metadata:write", "metadata:read") as other:
        other.ingest(f"{PEOPLE}.ssn", name="harmless")
        other.ingest(f"{PEOPLE}.email", "column", parent="shop.public.elsewhere")
        other.change("DELETE", f"/metadata/{PEOPLE}.phone")
    return door


def test_columns_that_were_taken_away_without_authority_are_copied_with_their_table(taken_away: Door) -> None:
    for sql in COPIES:
        told = ask(taken_away, sql, "snowflake", dry_run=True)
        expected = ("id", "ssn", "email") if "select" in sql else ("id", "ssn", "email", "phone")
        copied = {(f"{PEOPLE}.{name}", f"shop.public.other.{name}", "derived-from") for name in expected}
        assert pairs(told) >= copied, sql
        assert ("harmless" in str(told), "phone" in str(told)) == (False, "phone" in expected), sql


def test_a_column_that_was_taken_away_is_not_shown_to_whom_a_policy_denies_it(taken_away: Door) -> None:
    denied = policy({"user": "bob"}, {"asset": f"{PEOPLE}.ssn"}, "deny", actions=["READ"], applies_to=["metadata"])
    create(taken_away, "/policies", denied)
    with taken_away.limited("lineage:write", "metadata:read", user="bob") as bob:
        told = str(ask(bob, COPIES[1], "snowflake", dry_run=True))
    assert (f"{PEOPLE}.ssn" in told, f"{PEOPLE}.email" in told) == (False, True)
