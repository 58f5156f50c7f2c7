"""Table and column lineage of SQL scripts."""

import re
from pathlib import Path
from typing import Any

import pytest

from lily.api.ingest.sql_edges import resolved
from lily.intake.sql.analysis import analyze
from lily.intake.sql.dialects import KNOWN, case_rule, spellings
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult, Edge, KnownTable
from lily.model.errors import Refused


def known(name: str, *columns: str, ordered: bool = True) -> KnownTable:
    return KnownTable(name, {column.lower(): f"{name}.{column}" for column in columns}, ordered)


CATALOGUE = {
    "shop.public.orders": known("shop.public.orders", "id", "customer_id", "amount"),
    "shop.public.customers": known("SHOP.PUBLIC.Customers", "ID", "Email", "Name"),
    "shop.public.report": known("shop.public.report", "a", "b", "c"),
}


def analyzed(sql: str, dialect: str = "postgres", **more: Any) -> AnalysisResult:
    return analyze(
        AnalysisRequest(sql, dialect, **({"database": "shop", "schema": "public", "known": CATALOGUE} | more))
    )


def edges(sql: str, dialect: str = "postgres", **more: Any) -> set[str]:
    """`from -> to`, or `from ~> to` for an influences edge, without the shop's prefix."""
    marks = {"derived-from": "->", "influences": "~>"}
    return {
        f"{start} {marks[kind]} {end}".replace("shop.public.", "")
        for start, end, kind in analyzed(sql, dialect, **more).edges
    }


def derived(sql: str, dialect: str = "postgres", **more: Any) -> set[str]:
    return {edge for edge in edges(sql, dialect, **more) if "->" in edge}


def test_a_view_derives_from_what_it_selects() -> None:
    sql = """
        create or replace view v as
        select o.id, lower(c.email) as mail, o.amount + 1 as more, 7 as seven
        from orders o join customers c on c.id = o.customer_id
        where o.amount > 3 and c.name is not null
    """
    assert edges(sql) == {
        "orders -> v",
        "SHOP.PUBLIC.Customers -> v",
        "orders.id -> v.id",
        "SHOP.PUBLIC.Customers.Email -> v.mail",
        "orders.amount -> v.more",
        "orders.customer_id ~> v",
        "SHOP.PUBLIC.Customers.ID ~> v",
        "SHOP.PUBLIC.Customers.Name ~> v",
    }


ALL_ORDERS = {"orders -> t", "orders.id -> t.id", "orders.customer_id -> t.customer_id", "orders.amount -> t.amount"}


@pytest.mark.parametrize(
    "sql",
    [
        "create table t as select * from orders",
        "create table t as select o.* from orders o",
        "create table t as with a as (select * from orders), b as (select * from a) select * from b",
        "create table t as select * from (select * from (select * from orders) x) y",
        "create table t as table orders",
        "insert into t select * from orders",
        "with a as (select * from orders) insert into t select * from a",
        "select * into t from orders",
        "create materialized view t as select * from orders",
        "CREATE TABLE T AS SELECT * FROM ORDERS",
        'create table "T" as select * from "Orders"',
        "create table public.t as select * from shop.public.orders",
    ],
)
def test_a_star_is_expanded_from_the_catalogue(sql: str) -> None:
    assert edges(sql) == ALL_ORDERS


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("snowflake", "create or replace transient table t as select * from orders"),
        ("snowflake", "create table t clone orders"),
        ("bigquery", "create or replace table `shop.public.t` as select * from `shop.public.orders`"),
        ("spark", "insert overwrite table t select * from orders"),
        ("hive", "from orders insert into t select *"),
        ("tsql", "select * into t from orders"),
        ("trino", "create table t with (format = 'ORC') as select * from orders"),
        ("duckdb", "create table t as from orders"),
        ("mysql", "create table t as select * from `orders`"),
        ("tsql", "create procedure p as begin insert into t select * from orders end"),
        ("postgresql", "create table t as select * from orders"),
    ],
)
def test_every_dialect_gives_the_same_edges(dialect: str, sql: str) -> None:
    assert edges(sql, dialect) == ALL_ORDERS


def test_the_column_names_of_the_view_take_precedence() -> None:
    assert derived("create view v (x, y) as select id, amount from orders") == {
        "orders -> v",
        "orders.id -> v.x",
        "orders.amount -> v.y",
    }


def test_an_insert_without_columns_uses_their_order_in_the_catalogue() -> None:
    assert derived("insert into report select amount, 1, id from orders") == {
        "orders -> report",
        "orders.amount -> report.a",
        "orders.id -> report.c",
    }


def test_columns_are_matched_by_name_if_their_order_is_not_known() -> None:
    unordered = CATALOGUE | {"shop.public.report": known("shop.public.report", "c", "a", ordered=False)}
    told = analyzed("insert into report select amount as a from orders", known=unordered)
    assert ("shop.public.orders.amount", "shop.public.report.a", "derived-from") in told.edges
    assert any("order of the columns" in warning for warning in told.warnings)


def test_an_insert_with_columns_uses_their_position() -> None:
    sql = "insert into report (c, a) select id, amount from orders union all select id, 1 from customers"
    assert derived(sql) == {
        "orders -> report",
        "SHOP.PUBLIC.Customers -> report",
        "orders.id -> report.c",
        "SHOP.PUBLIC.Customers.ID -> report.c",
        "orders.amount -> report.a",
    }


def test_two_columns_with_the_same_name_are_distinguished() -> None:
    assert derived("insert into report (a, b) select o.id, c.id from orders o, customers c") >= {
        "orders.id -> report.a",
        "SHOP.PUBLIC.Customers.ID -> report.b",
    }


def test_a_merge_updates_and_inserts() -> None:
    sql = """
        merge into report r using (select * from orders) s on r.a = s.id
        when matched and s.amount > 0 then update set b = s.amount + r.c, c = s.customer_id
        when not matched then insert (a, b) values (s.id, s.amount)
    """
    assert derived(sql) == {
        "orders -> report",
        "orders.amount -> report.b",
        "report.c -> report.b",
        "orders.customer_id -> report.c",
        "orders.id -> report.a",
    }


def test_a_merge_of_all_columns_matches_them_by_name() -> None:
    sql = "merge into t using orders s on t.id = s.id when matched then update set * when not matched then insert *"
    assert derived(sql, "databricks") == ALL_ORDERS


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "update report set a = o.amount from orders o where o.id = report.b"),
        ("tsql", "update r set a = o.amount from report r join orders o on o.id = r.b"),
        ("mysql", "update report r join orders o on o.id = r.b set r.a = o.amount"),
    ],
)
def test_an_update_derives_from_what_it_joins(dialect: str, sql: str) -> None:
    assert edges(sql, dialect) >= {"orders -> report", "orders.amount -> report.a", "orders.id ~> report"}


def test_lineage_passes_through_temporary_tables() -> None:
    sql = """
        create temp table first as select id, email as e from customers where name like 'a%';
        create temporary table second as select e, id from first;
        create table final as select upper(e) as mail from second;
        drop table first;
    """
    assert edges(sql) == {
        "SHOP.PUBLIC.Customers -> final",
        "SHOP.PUBLIC.Customers.Email -> final.mail",
        "SHOP.PUBLIC.Customers.Name ~> final",
    }
    assert derived("select id into #x from orders; insert into report (a) select id from #x", "tsql") == {
        "orders -> report",
        "orders.id -> report.a",
    }


def test_a_temporary_table_may_be_filled_later() -> None:
    sql = "create temp table x (k int); insert into x select id from orders; insert into report (a) select k from x"
    assert derived(sql) == {"orders -> report", "orders.id -> report.a"}


def test_a_table_created_by_the_script_is_known_to_later_statements() -> None:
    sql = "create table s (x int, y int); create view v as select * from s; create view w as select * from v"
    assert derived(sql) == {"s -> v", "s.x -> v.x", "s.y -> v.y", "v -> w", "v.x -> w.x", "v.y -> w.y"}


def test_subqueries_anywhere_are_sources() -> None:
    sql = """
        create view v as
        select id, (select max(email) from customers c where c.id = o.customer_id) as mail
        from orders o where id in (select a from report)
    """
    assert edges(sql) >= {"orders -> v", "SHOP.PUBLIC.Customers -> v", "report -> v", "report.a ~> v"}
    assert "SHOP.PUBLIC.Customers.Email -> v.mail" in edges(sql)


def test_a_recursive_query_terminates() -> None:
    sql = """
        create view v as with recursive r as (
            select id, customer_id from orders union all
            select o.id, r.customer_id from orders o join r on r.id = o.customer_id)
        select * from r
    """
    assert derived(sql) == {"orders -> v", "orders.id -> v.id", "orders.customer_id -> v.customer_id"}
    assert analyzed(sql).warnings == []


def test_a_chain_that_reads_each_query_twice_is_not_walked_twice() -> None:
    step = "c{next} as (select x.id + y.id as id from c{n} x join c{n} y on x.id = y.id)"
    steps = ["with c0 as (select id from orders)", *(step.format(next=n + 1, n=n) for n in range(60))]
    sql = " ".join([", ".join(steps), "insert into v select id from c60"])
    assert derived(sql) == {
        "orders -> v",
        "orders.id -> v.id",
    }


def test_columns_of_an_unknown_table_are_resolved_if_it_is_the_only_one() -> None:
    assert derived("create view v as select x from (select * from nowhere) q") == {"nowhere -> v", "nowhere.x -> v.x"}
    assert derived("create view v as select x from nowhere", known={}, database=None, schema=None) == {
        "nowhere -> v",
        "nowhere.x -> v.x",
    }


def test_unresolved_columns_and_tables_are_in_the_warnings() -> None:
    told = analyzed("create view v as select * from nowhere; create view w as select x from here, there")
    assert len([warning for warning in told.warnings if "expanded" in warning]) == 1
    assert len([warning for warning in told.warnings if "the table of column" in warning]) == 1
    assert len([warning for warning in told.warnings if "not in the catalogue" in warning]) == 3


@pytest.mark.parametrize("sql", ["select * from orders", "select 1; select 2", "with a as (select 1) select * from a"])
def test_a_query_whose_rows_are_not_stored_has_no_edges(sql: str) -> None:
    told = analyzed(sql)
    assert told.edges == []
    assert told.warnings


@pytest.mark.parametrize(
    "sql", ["", ";;", "-- nothing", "insert into report values (1, 2, 3)", "drop table x; alter table y add z int"]
)
def test_a_statement_that_moves_no_data_has_no_edges(sql: str) -> None:
    assert analyzed(sql).edges == []


def test_no_edge_leads_from_an_asset_to_itself() -> None:
    assert edges("insert into orders select id, customer_id, amount from orders where amount > 1") == set()


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("create view v as select (1 from x", "line 1, column 31: Expecting )"),
        ("create view v as select 'abc", "line 1, column 24"),
        ("hello", "statement was expected"),
        ("create view v as selec 1", "line 1, column 18: a query is expected after AS"),
        ("\ncreate table t as\nselectt a", "line 3, column 1: a query is expected after AS"),
        ("create view v as select a b c from t", "line 1, column 29: Invalid expression"),
        ("\x00\x01", "sql"),
    ],
)
def test_a_syntax_error_is_refused_with_its_position(sql: str, says: str) -> None:
    with pytest.raises(Refused) as refused:
        analyzed(sql)
    problem = refused.value.problems[0]
    assert problem.code == "SQL_SYNTAX"
    assert says in f"{problem.description} {problem.entity}"


def test_a_syntax_error_does_not_affect_other_statements() -> None:
    result = analyzed("create view v as select id from orders;\n  create view w as select (1 from x")
    assert len(result.edges) == 2
    assert (result.understood, result.partial, result.not_understood) == (1, 0, 1)
    (outcome,) = result.without_edges
    assert outcome[:4] == (2, 2, 3, "not_understood")
    assert "line 2" in str(outcome.reason)


def test_an_unknown_dialect_is_refused_with_the_list_of_known_ones() -> None:
    with pytest.raises(Refused, match=r"bigquery.*snowflake"):
        analyzed("select 1", "klingon")


def test_a_first_request_lists_the_tables() -> None:
    told = analyzed('insert into T select * from a.B join "C".d.e on true', known=None)
    assert told.tables == {"shop.public.t": "shop.public.T", "shop.a.b": "shop.a.B", "c.d.e": "C.d.e"}
    assert told.edges == []


def test_tables_of_statements_that_are_not_parsed_are_listed_too() -> None:
    sql = "unload ('select a from s1') to 's3://x'; alter table t append from s2;"
    assert set(analyzed(sql, "redshift", known=None, database=None, schema=None).tables) == {"s1", "s2", "t"}
    loop = "begin for r in (select id from s3) loop insert into u values (r.id); end loop; end;"
    assert set(analyzed(loop, "oracle", known=None, database=None, schema=None).tables) == {"s3", "u"}


def test_every_dialect_name_is_known_in_any_case_and_has_a_rule_for_names() -> None:
    for name in ("postgresql", "MSSQL", "Spark", "databricks", "redshift", "athena", "presto", "trino", "vertica"):
        assert edges("create view v as select id from orders", name) == {"orders -> v", "orders.id -> v.id"}
    rules = {name: case_rule(name) for name in ("postgresql", "snowflake", "oracle", "bigquery", "tsql", "mssql")}
    assert rules == {
        "postgresql": "lower",
        "snowflake": "upper",
        "oracle": "upper",
        "bigquery": "kept",
        "tsql": "kept",
        "mssql": "kept",
    }
    assert spellings("snowflake", "db.t", "db.T") == ("DB.T", "db.T", "db.t")
    assert spellings("postgres", "db.t", "db.T") == ("db.t", "db.T", "DB.T")
    assert spellings("bigquery", "db.t", "db.T") == ("db.T", "db.t", "DB.T")


def test_requests_and_results_survive_json() -> None:
    question = AnalysisRequest("select 1", "postgres", known=CATALOGUE)
    assert AnalysisRequest.from_json(question.as_json()) == question
    told = analyzed("create table t as select * from orders")
    assert AnalysisResult.from_json(told.as_json()) == told


@pytest.mark.parametrize(
    ("sql", "emptied"),
    [
        ("create or replace view v as select 1 as email", ["v"]),
        ("create or replace view v as select email from a", []),
        ("create table n as select 1 as x; alter table n rename to t", ["t"]),
        ("create or replace table t as select distinct email from t", []),
        ("create table n as select email from t; drop table t; alter table n rename to t", []),
        ("create or replace view v as select email", []),
        ("create table if not exists t as select 1 as email", []),
        ("create temporary table t as select 1 as email", []),
        ("create table t (id int)", []),
    ],
)
def test_a_definition_that_reads_nothing_is_reported_if_that_is_certain(sql: str, emptied: list[str]) -> None:
    """The edges of an earlier definition end then."""
    assert analyze(AnalysisRequest(sql, "postgres", known={})).without_sources == emptied


UNREAD: dict[str, Any] = {"expands": False, "database": None, "schema": None}
STAR = "; create view w as select * from t"


def test_without_the_right_to_read_columns_a_star_is_not_expanded_but_names_are_spelled_as_in_the_catalogue() -> None:
    columns = {"t": KnownTable("S.T", {"id": "S.T.Id", "ssn": "S.T.SSN"}, ordered=True)}
    star = analyzed("create view v as select * from t", known=columns, **UNREAD)
    assert {edge[:2] for edge in star.edges} == {("S.T", "v")}
    assert (star.partial, "metadata:read" in star.warnings[0]) == (1, True)
    named = analyzed("create view v as select id from t", known=columns, **UNREAD)
    assert {edge[:2] for edge in named.edges} == {("S.T", "v"), ("S.T.Id", "v.id")}
    assert (named.understood, named.warnings) == (1, [])


@pytest.mark.parametrize(
    "sql", ["insert into t select a, b from s", "create view v as table t", "create table u like t"]
)
def test_without_the_right_to_read_columns_none_is_named_that_the_script_does_not_name(sql: str) -> None:
    columns = {"t": KnownTable("t", {"id": "t.id", "ssn": "t.ssn"}, ordered=True), "s": KnownTable("s")}
    seen = analyzed(sql + STAR, known=columns, **UNREAD | {"expands": True})
    assert "ssn" in str(seen)
    assert "ssn" not in str(analyzed(sql + STAR, known=columns, **UNREAD))


def test_without_the_right_to_read_the_catalogue_it_is_not_said_which_tables_it_has() -> None:
    tables = {"t": KnownTable("t")}
    scripts = ("create view v as select id from t", "create view v as select id from u")
    assert [analyzed(sql, known=tables, **UNREAD).warnings for sql in scripts] == [[], []]


GONE = KnownTable("s.t", {"id": "s.t.id"}, ordered=True, deleted={"ssn": "s.t.SSN"})
IN_S: dict[str, Any] = {"database": None, "schema": "s"}


@pytest.mark.parametrize("sql", ["alter table t rename to u", "alter table t swap with u"])
def test_deleted_columns_follow_a_table_to_its_new_name(sql: str) -> None:
    """Their tags may not have ended."""
    found = analyzed(sql, "snowflake", known={"s.t": GONE, "s.u": KnownTable("s.u")}, **IN_S)
    assert {("s.t.id", "s.u.id"), ("s.t.SSN", "s.u.ssn")} <= {edge[:2] for edge in found.edges}


def test_columns_that_only_edges_have_named_follow_a_view_to_its_new_name() -> None:
    named = KnownTable("s.w", deleted={"email": "s.w.email"}, is_asset=False)
    found = analyzed("alter table w rename to w9", known={"s.w": named}, **IN_S)
    assert {edge[:2] for edge in found.edges} == {("s.w", "s.w9"), ("s.w.email", "s.w9.email")}
    (warning,) = analyzed("create view v as select email from w", known={"s.w": named}, **IN_S).warnings
    assert "s.w is not in the catalogue" in warning


def test_a_column_that_is_at_its_new_place_already_has_no_edge_to_itself() -> None:
    """Somebody stated it to be a column of the old table: it would be a dead letter."""
    moved = KnownTable("s.w", {"email": "s.w9.email", "id": "s.w.id"})
    found = analyzed("alter table w rename to w9", known={"s.w": moved}, **IN_S)
    assert {edge[:2] for edge in resolved("t", found)} == {("s.w", "s.w9"), ("s.w.id", "s.w9.id")}
    written = AnalysisResult(1, {}, [Edge("s.e\u0301", "s.\u00e9", "derived-from")], definitions=[None])
    assert resolved("t", written) == {}


def test_deleted_columns_are_not_of_a_star() -> None:
    found = analyzed("create table u as select * from t", known={"s.t": GONE}, **IN_S)
    assert {edge[:2] for edge in found.edges} == {("s.t", "s.u"), ("s.t.id", "s.u.id")}


def test_the_documentation_lists_every_dialect_with_its_rule_for_names() -> None:
    page = (Path(__file__).parents[2] / "docs" / "lineage-from-the-world.md").read_text("utf-8")
    table = page.partition("| dialects |")[2].partition("\n\n")[0]
    rules = {"in lower case": "lower", "in upper case": "upper", "as written": "kept"}
    rows = (row.strip("| ").rsplit(" | ", 1) for row in table.splitlines()[2:])
    listed = {name: rules[rule] for names, rule in rows for name in re.findall(r"`([\w-]+)`", names)}
    assert listed == {name: case_rule(name) for name in KNOWN}
