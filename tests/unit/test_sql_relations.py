"""Which columns a query reads: joins, recursion, subscripts, subqueries, and the rows of MERGE and INSERT."""

import pytest

from lily.intake.sql.analysis import analyze
from lily.intake.sql.protocol import AnalysisRequest, KnownTable

_MARKS = {"derived-from": "->", "influences": "~>"}


def known(name: str, *columns: str) -> KnownTable:
    return KnownTable(name, {column: f"{name}.{column}" for column in columns}, ordered=True)


CATALOGUE = {
    "shop.public.orders": known("shop.public.orders", "id", "customer_id", "amount"),
    "shop.public.report": known("shop.public.report", "a", "b", "c"),
}


def edges(sql: str, dialect: str = "postgres", catalogue: dict[str, KnownTable] = CATALOGUE) -> set[str]:
    found = analyze(AnalysisRequest(sql, dialect, database="shop", schema="public", known=catalogue)).edges
    return {f"{start} {_MARKS[kind]} {end}".replace("shop.public.", "") for start, end, kind in found}


def columns_of(found: set[str]) -> set[str]:
    """Those that lead from column to column."""
    return {edge for edge in found if "->" in edge and "." in edge}


@pytest.mark.parametrize(
    "sql",
    [
        "create table t as select * from orders left semi join report on report.a = orders.id",
        "create table t as select * from orders left anti join report on report.a = orders.id",
    ],
)
def test_a_semi_or_anti_join_adds_no_columns_to_a_star(sql: str) -> None:
    expected = {f"orders.{name} -> t.{name}" for name in ("id", "customer_id", "amount")}
    assert columns_of(edges(sql, "spark")) == expected


def test_a_recursive_query_passes_columns_on_in_every_round() -> None:
    sql = """
        create view v as with recursive r (x, y, z) as (
            select id, customer_id, amount from orders union all select y, z, z from r
        ) select x from r
    """
    assert edges(sql) >= {f"orders.{name} -> v.x" for name in ("id", "customer_id", "amount")}


def test_a_subscript_is_part_of_the_value() -> None:
    items = {"shop.public.boxes": known("shop.public.boxes", "items", "place")}
    found = edges("create view v as select items -> place as item from boxes", catalogue=items)
    assert columns_of(found) == {"boxes.items -> v.item", "boxes.place -> v.item"}


def test_a_query_that_a_value_is_looked_for_in_only_influences() -> None:
    found = edges("create view v as select id in (select a from report) as seen from orders")
    assert found >= {"orders.id -> v.seen", "report.a ~> v"}
    assert "report.a -> v.seen" not in found


def test_the_values_that_a_merge_inserts_are_those_of_its_source() -> None:
    both = {name: known(name, "id", "amount") for name in ("shop.public.s", "shop.public.t")}
    sql = "merge into t using s on t.id = s.id when not matched then insert (amount) values (id)"
    assert columns_of(edges(sql, catalogue=both)) == {"s.id -> t.amount"}


def test_the_rows_of_an_insert_have_the_names_of_its_columns_where_they_conflict() -> None:
    sql = "insert into report (a, b) select id, amount from orders on conflict (a) do update set c = excluded.b"
    assert edges(sql) >= {"orders.amount -> report.b", "orders.amount -> report.c"}
    assert "orders.id -> report.c" not in edges(sql)
