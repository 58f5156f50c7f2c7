"""Row filters as Iceberg's expressions: which rows a real reader returns, compared with what SQL says."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.expressions import BooleanExpression
from pyiceberg.expressions.visitors import expression_evaluator
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import BooleanType, DateType, IntegerType, NestedField, StringType

from lily.enforce.iceberg import Field, NotExpressible, named_columns, restrictions
from lily.policy import Decision, parse_row_filter

SCHEMA = Schema(
    NestedField(1, "country", StringType()),
    NestedField(2, "age", IntegerType()),
    NestedField(7, "active", BooleanType()),
    NestedField(9, "born", DateType()),
)
KINDS = {"string": "string", "int": "int", "boolean": "boolean", "date": "date"}
ALLOWED = Decision("allow", None, "")
Row = tuple[str | None, int | None, bool | None]
ROWS: list[Row] = [
    (country, age, active)
    for country in (None, "", "DE", "DK", "D%", "de")
    for age in (None, -1, 0, 3, 7)
    for active in (None, True, False)
]


def fields(kinds: Mapping[str, str] = KINDS) -> list[Field]:
    return [Field(one.name, one.field_id, kinds.get(str(one.field_type), "")) for one in SCHEMA.fields]


def predicate(sql: str, user: str = "ann", of: Sequence[Field] | None = None) -> Any:
    columns = named_columns(("shop.people",), fields() if of is None else of)
    table = Decision("row-filter", None, "", None, (parse_row_filter(sql),))
    found = restrictions(table, [(column, table) for column in columns], user)
    assert found.keys() <= {"required-row-filter"}
    return found.get("required-row-filter", True)


def as_pyiceberg(given: Any) -> Any:
    """The same in the older form, with names, which is the one that PyIceberg 0.12 reads."""
    if isinstance(given, bool):
        return given
    kind = given["type"]
    if kind in {"and", "or"}:
        return {"type": kind, "left": as_pyiceberg(given["left"]), "right": as_pyiceberg(given["right"])}
    if kind in {"is-null", "not-null"}:
        return {"type": kind, "term": name_of(given["child"])}
    if kind in {"in", "not-in"}:
        return {"type": kind, "term": name_of(given["child"]), "values": given["values"]}
    assert given["right"].keys() == {"type", "value"}
    assert given["right"]["type"] == "literal"
    return {"type": kind, "term": name_of(given["left"]), "value": given["right"]["value"]}


def name_of(reference: Any) -> str:
    assert reference.keys() == {"type", "id"}
    assert reference["type"] == "reference"
    return str(SCHEMA.find_column_name(reference["id"]))


def read_by_iceberg(sql: str) -> list[Row]:
    expression = BooleanExpression.model_validate(as_pyiceberg(predicate(sql)))
    accepts = expression_evaluator(SCHEMA, expression, case_sensitive=True)
    return [row for row in ROWS if accepts(Record(*row, None))]


def read_by_sql(sql: str) -> list[Row]:
    with sqlite3.connect(":memory:") as database:
        database.execute("pragma case_sensitive_like = on")
        database.execute("create table people (n int, country text, age int, active boolean)")
        database.executemany("insert into people values (?, ?, ?, ?)", [(n, *row) for n, row in enumerate(ROWS)])
        found = database.execute(f"select n from people where {sql} order by n").fetchall()  # noqa: S608 - of this test
    database.close()
    return [ROWS[n] for (n,) in found]


@pytest.mark.parametrize(
    "sql",
    [
        "country = 'DE'",
        "country <> 'DE'",
        "not country = 'DE'",
        "'DE' = country",
        "3 < age",
        "age <= 0",
        "not (age < 3)",
        "age = -1",
        "country in ('DE', 'DK')",
        "country not in ('DE', 'DK')",
        "country in ('DE', null)",
        "country not in ('DE', null)",
        "age between 0 and 3",
        "age not between 0 and 3",
        "country is null",
        "country is not null",
        "not (country is null or age > 3)",
        "country like 'D%'",
        "country not like 'D%'",
        "country like 'DE'",
        "country like '%'",
        "active",
        "not active",
        "active = true or country = 'DE'",
        "country is not distinct from 'DE'",
        "country is distinct from 'DE'",
        "country is distinct from null",
        "true",
        "false or country = 'DE'",
    ],
)
def test_a_reader_returns_the_rows_that_sql_returns(sql: str) -> None:
    assert read_by_iceberg(sql) == read_by_sql(sql)


ATOMS = st.one_of(
    st.builds(
        "{} {} {}".format,
        st.just("age"),
        st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
        st.sampled_from(["-1", "0", "3"]),
    ),
    st.builds("country {} {}".format, st.sampled_from(["=", "<>", "<", ">="]), st.sampled_from(["''", "'DE'"])),
    st.builds("country {}in ({})".format, st.sampled_from(["", "not "]), st.sampled_from(["'DE'", "'DE', null, ''"])),
    st.builds(
        "country {}like {}".format, st.sampled_from(["", "not "]), st.sampled_from(["'D%'", "''", "'%'", "'DE'"])
    ),
    st.builds("age {}between 0 and {}".format, st.sampled_from(["", "not "]), st.sampled_from(["3", "-1"])),
    st.builds("{} is {}null".format, st.sampled_from(["country", "age", "active"]), st.sampled_from(["", "not "])),
    st.builds("country is {}distinct from {}".format, st.sampled_from(["", "not "]), st.sampled_from(["'DE'", "null"])),
    st.sampled_from(["active", "active = false", "true", "false"]),
)
FILTERS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("({}) or ({})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=120, deadline=None)
@given(FILTERS)
def test_any_combination_returns_the_rows_that_sql_returns(sql: str) -> None:
    assert read_by_iceberg(sql) == read_by_sql(sql)


@pytest.mark.parametrize(
    "sql", ["age < 3", "age <= 3", "country <> 'DE'", "country not in ('DE')", "country not like 'D%'"]
)
def test_a_reader_that_sorts_null_first_excludes_it_too(sql: str) -> None:
    """PyIceberg does not, and some readers do: there NULL is less than anything."""
    found = predicate(sql)
    assert found["type"] == "and"
    assert found["left"]["type"] == "not-null"


def test_columns_are_referenced_by_field_id() -> None:
    assert predicate("active") == {
        "type": "eq",
        "left": {"type": "reference", "id": 7},
        "right": {"type": "literal", "value": True},
    }


def test_the_user_is_a_constant() -> None:
    assert predicate("country = current_user", "bob")["right"]["value"] == "bob"


def test_a_quote_in_a_literal_stays_in_the_literal() -> None:
    assert predicate("country = 'O''Neil\"; --'")["right"]["value"] == "O'Neil\"; --"


def test_a_date_is_written_as_iceberg_writes_it() -> None:
    assert predicate("born = date '2024-02-01'")["right"]["value"] == "2024-02-01"


@pytest.mark.parametrize(
    "sql",
    [
        "lower(country) = 'de'",
        "country ilike 'de'",
        "country like '%E'",
        "country like 'D_'",
        "country like 'D%' escape '!'",
        "country = 'a' || country",
        "age + 1 = 2",
        "age = length(country)",
        "born > current_date - interval '7' day",
        "coalesce(active, false)",
        "case when active then true else false end",
        "cast(age as text) = '3'",
        "country in ('a', lower(country))",
        "age > 1.5",
        "age = 'x'",
        "country = 3",
        "born = 'yesterday'",
        "age > 99999999999",
        "active > 3",
    ],
)
def test_what_iceberg_cannot_state_is_an_error_and_never_no_filter(sql: str) -> None:
    with pytest.raises(NotExpressible):
        predicate(f"active and ({sql})")


def test_a_column_without_a_field_id_is_an_error() -> None:
    with pytest.raises(NotExpressible, match="field_id"):
        predicate("country = 'DE'", of=[Field("country"), Field("age", 2)])
    with pytest.raises(NotExpressible, match="'postcode'"):
        predicate("postcode = '1'")


def test_two_columns_that_differ_in_case_are_told_apart_or_refused() -> None:
    several = [Field("Country", 3, "string"), Field("country", 4, "string")]
    assert predicate("country = 'DE'", of=several)["left"]["id"] == 4
    assert predicate("\"Country\" = 'DE'", of=several)["left"]["id"] == 3
    with pytest.raises(NotExpressible, match="several columns"):
        predicate("\"COUNTRY\" = 'DE'", of=several)
