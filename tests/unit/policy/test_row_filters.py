"""Row filters: what is accepted, how each dialect writes it, and every attempt to be more than an expression."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from lily.model.errors import Refused
from lily.policy import DIALECTS, conjunction, parse_row_filter

ACCEPTED = {
    "country = 'DE'": ("country",),
    "lower(region) in ('a', 'b') and not deleted": ("deleted", "region"),
    "name = 'it''s'": ("name",),
    r"path = 'a\b'": ("path",),
    "name = 'a\\'' or 1=1 --'": ("name",),
    "note = 'ü\n\t'": ("note",),
    '"Order Date" <> 1': ("Order Date",),
    '"a`b""c" = 1': ('a`b"c',),
    '"a\\" = 1': ("a\\",),
    "created_at > current_timestamp - interval '7 days'": ("created_at",),
    "created_at > current_timestamp - interval '7' day": ("created_at",),
    "d::date = current_date": ("d",),
    "cast(a as decimal(10, 2)) > 1.5": ("a",),
    "cast(a as boolean)": ("a",),
    "owner = current_user": ("owner",),
    "substring(a from 1 for 2) = 'x'": ("a",),
    "trim(a) = '' or length(a) > 3": ("a",),
    "extract(year from d) = 2024": ("d",),
    "date_trunc('month', d) = date '2024-01-01'": ("d",),
    "first || last = 'x'": ("first", "last"),
    "coalesce(a, 0) between 1 and 2": ("a",),
    "a like 'x!%' escape '!'": ("a",),
    "a ilike 'x%'": ("a",),
    "a is distinct from b": ("a", "b"),
    "a is null or nullif(b, '') is not null": ("a", "b"),
    "case when a = 1 then true else false end": ("a",),
    "cast(a as varchar(10)) = 'x' and (b) in (1)": ("a", "b"),
    "mod(a, 2) = 0 and year(d) = 2024": ("a", "d"),
    "abs(a) + 1 < -b % 3": ("a", "b"),
    "is_public": ("is_public",),
    "true": (),
}

REFUSED = {
    "": "exactly one expression",
    "   ": "exactly one expression",
    "a = ": "not a SQL expression",
    "a = 1)": "not a SQL expression",
    "a = 'x": "not a SQL expression",
    "a = 1 limit 1": "not a SQL expression",
    "1": "true or false",
    "'x'": "true or false",
    "a + 1": "true or false",
    "lower(a)": "true or false",
    "interval '1' day": "true or false",
    "1=1; drop table x": "semicolon",
    "a = 1;": "semicolon",
    "a = 1 -- x": "comments",
    "/* x */ a = 1": "comments",
    "a = 1 /* x": "comments|not a SQL expression",
    "select 1": "subquery",
    "exists (select 1)": "subquery",
    "a in (select 1)": "subquery",
    "a = (select 1)": "subquery",
    "coalesce(a, (select true))": "subquery",
    "a = 1 union select 1": "subquery",
    "drop table x": "must not contain drop",
    "count(*) > 1": "the function count",
    "sum(a) over () > 1": "the function sum",
    "row_number() over () = 1": "the function row_number",
    "lower(a) over () = 'x'": "aggregate",
    "pg_sleep(1) is null": "the function pg_sleep",
    "current_setting('x') = 'y'": "the function current_setting",
    "random() < 0.5": "the function random",
    "date(a) = current_date": "the function date",
    "date(" * 20 + "a" + ")" * 20 + " = 1": "the function date",  # for which sqlglot alone takes a minute
    "decimal(decimal(1)) = 1": "the function decimal",
    "interval(a) = 1": "the function interval",
    "interval a day < b": "an interval is",
    "a > interval '1-2' year": "an interval is",
    "a > interval '1.5' day": "an interval is",
    "a > interval '1 day 2 hours'": "an interval is",
    "length(a, 'utf8') = 1": "change of meaning",
    "a between symmetric 1 and 2": "change of meaning",
    "substring(a from 'x') = 'y'": "positive numbers",
    "substring(a, -1) = 'y'": "positive numbers",
    "substring(a, 0) = 'y'": "positive numbers",
    "extract(dow from d) = 1": "engines differ in 'dayofweek'|engines differ in 'dow'",
    "date_trunc('week', d) = current_date": "engines differ in 'week'",
    "a in ()": "at least one value",
    "a = $$x$$": "rawstring",
    "session_user = 'x'": "the function session_user",
    "a ~ 'x'": "regexp_like",
    "a -> 'x' = 1": "json_extract",
    "a = $1": "parameter",
    "a = :x": "placeholder",
    "a = ?": "placeholder",
    "a = E'\\n'": "bytestring",
    "a = U&'x'": "unicodestring",
    "(a, b) = (1, 2)": "tuple",
    "x[1] = 2": "bracket",
    "x = any(array[1])": "any",
    "a like any ('x')": "any",
    "a / 2 = 1": "div",
    "a is true": "IS may be followed by",
    "a is not true": "IS may be followed by",
    r"a like '%\_%'": "backslash",
    "t.a = 1": "name the column alone",
    "s.t.a = 1": "name the column alone",
    "*": "star",
    "cast(a as json) = 1": "must not cast to",
    "cast(a as int[]) is null": "must not cast to",
    "concat(a, b) = 'x'": "the function concat",
    "a" * 4001: "4000 characters",
    "a = 1 or " * 200 + "a = 1": "500 words",
    "(" * 21 + "a = 1" + ")" * 21: "nest",
    "not " * 21 + "a": "nest",
    "not " * 450 + "a": "nest",
    "(" * 240 + "a" + ")" * 240: "nest",
}


@pytest.mark.parametrize(("text", "columns"), ACCEPTED.items())
def test_an_expression_over_the_row_is_accepted(text: str, columns: tuple[str, ...]) -> None:
    row_filter = parse_row_filter(text)
    assert row_filter.columns == columns
    assert parse_row_filter(row_filter.sql) == row_filter


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", ACCEPTED)
def test_each_dialects_text_parses_to_the_same_columns_and_literals(text: str, dialect: str) -> None:
    row_filter = parse_row_filter(text)
    again = parse_one(row_filter.render(dialect), read=dialect)
    assert sorted({column.name for column in again.find_all(exp.Column)}) == list(row_filter.columns)
    written = parse_one(text, read="postgres")
    strings = [sorted(one.name for one in tree.find_all(exp.Literal) if one.is_string) for tree in (written, again)]
    assert strings[0] == strings[1]


@pytest.mark.parametrize(("text", "why"), REFUSED.items(), ids=lambda text: text[:30])
def test_anything_more_is_refused(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why) as refused:
        parse_row_filter(text)
    assert [problem.entity for problem in refused.value.problems] == ["row_filter"]


@given(st.text(alphabet="'\"\\`;-*/ aü%_${}\n", max_size=12))
@settings(max_examples=80)
def test_no_string_becomes_syntax_in_any_dialect(value: str) -> None:
    quoted = value.replace("'", "''")
    row_filter = parse_row_filter(f"name = '{quoted}'")
    for dialect in DIALECTS:
        again = parse_one(row_filter.render(dialect), read=dialect)
        assert isinstance(again, exp.EQ)
        assert again.expression.name == value


def test_bigquery_has_a_name_of_its_own_for_the_current_user() -> None:
    row_filter = parse_row_filter("owner = current_user")
    assert row_filter.render("bigquery") == "owner = SESSION_USER()"
    assert row_filter.render("trino") == "owner = CURRENT_USER"


def test_a_conjunction_keeps_each_filter_together() -> None:
    filters = [parse_row_filter("a = 1 or b = 2"), parse_row_filter("c = 3")]
    assert conjunction(filters, "trino") == "(a = 1 OR b = 2) AND (c = 3)"
    assert conjunction([], "trino") == ""


def test_an_unknown_dialect_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown dialect 'tsql'"):
        parse_row_filter("a = 1").render("tsql")
