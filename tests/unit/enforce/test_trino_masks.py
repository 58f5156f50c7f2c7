"""Masks as Trino's expressions: exactly the column's type, and nothing of a name or a type becomes syntax."""

import sqlite3
import string
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from lily.enforce.trino.identifiers import literal, quoted
from lily.enforce.trino.masks import mask_expression
from lily.enforce.trino.types import parse_type
from lily.policy import MASK_ACTIONS, Decision, Mask, MaskAction, parse_row_filter

SIMPLE = (
    "bigint", "integer", "smallint", "tinyint", "boolean", "double", "real", "date", "varchar", "varchar(20)",
    "char(3)", "decimal(10,2)", "timestamp(3)", "timestamp(6) with time zone", "time(3)", "time(3) with time zone",
    "varbinary",
    "uuid", "json", "ipaddress", "interval day to second", "interval year to month", "HyperLogLog", "unknown",
)  # fmt: skip
GERMAN, RICH = parse_row_filter("country = 'DE'"), parse_row_filter("pay > 10")
names = st.text(string.ascii_letters + string.digits + "_ \"'.,();-/*é\n", min_size=1, max_size=20)
types = st.recursive(
    st.sampled_from(SIMPLE),
    lambda inner: st.one_of(
        inner.map("array({})".format),
        st.tuples(inner, inner).map(lambda two: f"map({two[0]}, {two[1]})"),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda fields: f"row({', '.join(f'f{number} {kind}' for number, kind in enumerate(fields))})"
        ),
    ),
    max_leaves=5,
)
masks = st.sampled_from(MASK_ACTIONS).map(Mask) | st.builds(
    Mask, st.just("mask-to-fixed-value"), st.text(max_size=10) | st.integers() | st.booleans() | st.floats(-9, 9)
)


def masked(action: MaskAction | Mask, kind: str, column: str = "c") -> str:
    mask = action if isinstance(action, Mask) else Mask(action)
    found = mask_expression(column, kind, Decision("mask", "p", "", mask), ())
    assert found is not None
    return found


def test_a_column_that_may_be_read_has_no_mask() -> None:
    assert mask_expression("c", "varchar", Decision("allow", "p", ""), ()) is None


@pytest.mark.parametrize("kind", SIMPLE)
def test_a_denied_column_is_null(kind: str) -> None:
    assert mask_expression("c", kind, Decision("deny", None, ""), ()) == f"CAST(NULL AS {kind})"


@pytest.mark.parametrize(
    ("action", "kind", "expected"),
    [
        ("replace-with-null", "varchar", "NULL"),
        ("mask-alphanum", "bigint", "NULL"),
        ("mask-alphanum", "row(a varchar)", "NULL"),
        ("show-first-4", "date", "NULL"),
        ("show-last-4", "varbinary", "NULL"),
        ("truncate-to-year", "varchar", "NULL"),
        ("truncate-to-month", "time(3)", "NULL"),
        ("sha-256-global", "decimal(10,2)", "NULL"),
        ("sha-256-query-local", "json", "NULL"),
        ("mask-to-fixed-value", "array(varchar)", "NULL"),
        ("truncate-to-year", "timestamp(6) with time zone", "date_trunc('year', \"c\")"),
        ("truncate-to-month", "date", "date_trunc('month', \"c\")"),
        ("sha-256-global", "varbinary", 'sha256("c")'),
        ("mask-to-fixed-value", "bigint", "'0'"),
        ("mask-to-fixed-value", "boolean", "'false'"),
        (Mask("mask-to-fixed-value", "it's"), "varchar(3)", "TRY_CAST('it''s' AS varchar(3))"),
        (Mask("mask-to-fixed-value", True), "boolean", "TRY_CAST('true' AS boolean)"),
        (Mask("mask-to-fixed-value", 1), "boolean", "TRY_CAST('1' AS boolean)"),
        (Mask("mask-to-fixed-value", 1), "json", "NULL"),
    ],
)
def test_a_mask_that_the_type_cannot_take_is_null(action: MaskAction | Mask, kind: str, expected: str) -> None:
    shown = kind.replace("row(a varchar)", 'row("a" varchar)')
    assert masked(action, kind) == f"CAST({expected} AS {shown})"


@pytest.mark.parametrize(
    ("text", "first", "last"), [("", "", ""), ("abcd", "xxxx", "xxxx"), ("abcde", "abcdx", "xbcde")]
)
def test_a_text_that_would_be_shown_whole_is_masked_whole(text: str, first: str, last: str) -> None:
    with closing(sqlite3.connect(":memory:")) as database:  # which has all but these functions of Trino
        database.create_function("IF", 3, lambda condition, then, otherwise: then if condition else otherwise)
        database.create_function("rpad", 3, lambda given, length, fill: given.ljust(length, fill))
        database.create_function("lpad", 3, lambda given, length, fill: given.rjust(length, fill))
        for action, expected in (("show-first-4", first), ("show-last-4", last)):
            shown = masked(action, "varchar")  # type: ignore[arg-type]
            asked = f'select {shown} from (select ? as "c")'  # noqa: S608 - of the test
            assert database.execute(asked, [text]).fetchall() == [(expected,)]


@given(names, types, masks)
def test_a_mask_is_one_cast_to_the_type_of_its_column_and_reads_no_other(name: str, kind: str, mask: Mask) -> None:
    text = masked(mask, kind, name)
    parsed = parse_one(text, read="trino")
    assert isinstance(parsed, exp.Cast)
    known = parse_type(kind)
    assert known is not None
    assert text.endswith(f" AS {known.sql})")
    assert {found.name for found in parsed.find_all(exp.Column)} <= {name}


@given(names)
def test_names_and_texts_are_read_back_as_they_were(name: str) -> None:
    assert parse_one(quoted(name), read="trino").name == name
    assert parse_one(literal(name), read="trino").name == name


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "bigint) OR (true",
        "varchar(10",
        "varchar); drop table t",
        'row("a bigint)',
        "row(a b bigint)",
        "row(first name varchar)",
        "varchar -- x",
        "'text'",
        "array()",
        "bigint with time zone",
        "(" * 100 + ")" * 100,
        "array(" * 60 + "bigint" + ")" * 60,
        "x" * 30_000,
    ],
)
def test_a_type_that_is_in_doubt_is_not_written(kind: str) -> None:
    assert parse_type(kind) is None
    assert masked("show-last-4", kind) == "NULL"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("row(date date, bigint, interval day to second)", 'row("date" date, bigint, interval day to second)'),
        ("row(at timestamp(3) with time zone)", 'row("at" timestamp(3) with time zone)'),
        ('row("a, b" varchar(3))', 'row("a, b" varchar(3))'),
        ("map(varchar, array(row(x integer)))", 'map(varchar, array(row("x" integer)))'),
    ],
)
def test_fields_of_rows_are_quoted(kind: str, expected: str) -> None:
    known = parse_type(kind)
    assert known is not None
    assert known.sql == expected


def test_a_row_filter_of_the_column_alone_hides_the_value_in_other_rows() -> None:
    filtered = Decision("row-filter", "p", "", None, (GERMAN, RICH))
    assert mask_expression("c", "bigint", filtered, (GERMAN, RICH)) is None
    only = mask_expression("c", "bigint", filtered, (GERMAN,))
    assert only == 'CAST(CASE WHEN (pay > 10) THEN "c" END AS bigint)'
    both = Decision("mask", "p", "", Mask("show-last-4"), (GERMAN,))
    assert "CASE WHEN (country = 'DE') THEN IF(" in str(mask_expression("c", "varchar", both, ()))
