"""JSON bodies are split into the same rows however they arrive."""

from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.formats.json_array import Elements
from lily.formats.ndjson import Lines
from lily.model.errors import Problem
from lily.plugins import BlankRows, Row, Splitter

LIMIT = 200
TEXT = st.text(alphabet=st.sampled_from('ab"\\[]{},:\n\té😀'), max_size=20)
VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def split(splitter: Splitter, body: bytes, cuts: list[int]) -> list[Row]:
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    found: list[Row] = []
    for start, end in pairwise(edges):
        found += splitter.feed(body[start:end])
    found += splitter.finish()
    return [one for row in found for one in ([b""] * row.count if isinstance(row, BlankRows) else [row])]


def outcome(row: Row) -> Any:
    assert isinstance(row, bytes | Problem)
    return row.code if isinstance(row, Problem) else orjson.loads(row)


@given(st.lists(VALUES, max_size=8), st.lists(st.integers(0, 5000), max_size=12))
def test_any_array_cut_anywhere_gives_its_elements(values: list[Any], cuts: list[int]) -> None:
    expected = ["TOO_LARGE" if len(orjson.dumps(value)) > LIMIT else value for value in values]
    assert [outcome(row) for row in split(Elements(LIMIT), orjson.dumps(values), cuts)] == expected
    pretty = orjson.dumps(values, option=orjson.OPT_INDENT_2)
    assert [outcome(row) for row in split(Elements(10**6), pretty, cuts)] == values


@given(st.lists(VALUES, max_size=8), st.lists(st.integers(0, 5000), max_size=12))
def test_any_lines_cut_anywhere_give_their_rows(values: list[Any], cuts: list[int]) -> None:
    rows = [orjson.dumps(value) for value in values]
    expected = ["TOO_LARGE" if len(row) > LIMIT else value for row, value in zip(rows, values, strict=True)]
    assert [outcome(row) for row in split(Lines(LIMIT), b"\n".join(rows), cuts)] == expected


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_no_bytes_break_a_splitter_and_no_cut_changes_what_it_finds(body: bytes, cuts: list[int]) -> None:
    assert split(Elements(20), body, cuts) == split(Elements(20), body, [])
    assert split(Lines(20), body, cuts) == split(Lines(20), body, [])


@given(st.lists(st.sampled_from([b"\n" * 9, b"1", b" ", b"\n"]), max_size=12), st.lists(st.integers(0, 99), max_size=9))
def test_blank_lines_count_as_rows_however_many_there_are(parts: list[bytes], cuts: list[int]) -> None:
    body = b"".join(parts)
    expected = [line.strip() for line in body.split(b"\n")]
    if not body.rpartition(b"\n")[2]:
        expected.pop()
    assert split(Lines(LIMIT), body, cuts) == expected


def test_many_blank_lines_are_a_single_row() -> None:
    rows = list(Lines(LIMIT).feed(b"1" + b"\n" * 1_000_000 + b"2\n"))
    assert rows == [b"1", BlankRows(999_999), b"2"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"[]", []),
        (b" [ 1 , 2 ] \n", [b"1", b"2"]),
        (b"[,1]", ["MALFORMED_JSON", b"1"]),
        (b"[1,]", [b"1", "MALFORMED_JSON"]),
        (b"[1] 2", [b"1", "MALFORMED_JSON"]),
        (b"[1", ["MALFORMED_JSON"]),
        (b"", ["MALFORMED_JSON"]),
        (b"{}", ["MALFORMED_JSON"]),
        (b'[{"a":1],{"b":2}]', [b'{"a":1]', b'{"b":2}']),
    ],
)
def test_what_is_not_quite_an_array(body: bytes, expected: list[Any]) -> None:
    found = split(Elements(LIMIT), body, [])
    assert [row.code if isinstance(row, Problem) else row for row in found] == expected


def test_a_row_that_is_too_long_is_not_kept_while_it_lasts() -> None:
    splitter = Lines(10)
    for _ in range(1000):
        assert list(splitter.feed(b"x" * 1000)) == []
    found = list(splitter.feed(b"\n1\n"))
    assert [outcome(row) for row in found] == ["TOO_LARGE", 1]
