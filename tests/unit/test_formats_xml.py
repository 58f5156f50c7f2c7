"""XML: what elements mean, and that no document can make Lily fetch, expand or hold anything."""

import tracemalloc
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.formats.xml import MAX_DEPTH, PIECE, Xml
from lily.model.errors import Problem
from lily.plugins import Row

LIMIT = 10_000
TEXT = st.text(
    st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff"), min_size=1, max_size=9
)
NAMES = st.sampled_from(["name", "owner", "description", "qualified_name"])


def split(body: bytes, chunk: int = 1 << 16) -> list[Row]:
    splitter = Xml().splitter(LIMIT)
    rows: list[Row] = []
    for start in range(0, len(body), chunk):
        rows += splitter.feed(body[start : start + chunk])
    rows += splitter.finish()
    splitter.close()
    return rows


def asset(inner: str) -> list[Row]:
    return split(f"<assets><asset>{inner}</asset></assets>".encode())


def codes(rows: list[Row]) -> list[Any]:
    return [row.code if isinstance(row, Problem) else row for row in rows]


@given(st.lists(st.dictionaries(NAMES, TEXT, max_size=3), max_size=4), st.integers(1, 50))
def test_any_text_comes_back_as_it_was(assets: list[dict[str, str]], chunk: int) -> None:
    inner = "".join(
        f"<asset>{''.join(f'<{key}>{escape(value)}</{key}>' for key, value in one.items())}</asset>" for one in assets
    )
    expected = [{"attributes": one} for one in assets]
    assert split(f"<assets>{inner}</assets>".encode(), chunk) == expected


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("<tags/>", {"tags": []}),
        ("<tags></tags><owner></owner>", {"tags": []}),
        ("<tags><tag> PII </tag><tag/></tags>", {"tags": ["PII"]}),
        ("<stewards><one>ann</one><one>bob</one></stewards>", {"stewards": ["ann", "bob"]}),
        ('<owner xsi:nil="true"/>', {"owner": None}),
        ("<description>a &lt; b &amp; c &#228;</description>", {"description": "a < b & c ä"}),
        ("<description><![CDATA[a < b]]></description>", {"description": "a < b"}),
    ],
)
def test_what_elements_mean(inner: str, expected: dict[str, Any]) -> None:
    assert asset(inner) == [{"attributes": expected}]


def test_prefixes_and_attributes_of_the_root_do_not_matter() -> None:
    body = b'<l:assets xmlns:l="urn:l" version="1"><l:asset><l:name>a</l:name></l:asset></l:assets>'
    assert split(body) == [{"attributes": {"name": "a"}}]


@pytest.mark.parametrize(
    ("inner", "code"),
    [
        ('<name id="7">a</name>', "UNKNOWN_FIELD"),
        ("<name>a</name><name>b</name>", "MALFORMED_XML"),
        ("<tags><tag><deep>x</deep></tag></tags>", "MALFORMED_XML"),
        ("stray", "MALFORMED_XML"),
        ("<tags>stray<tag>x</tag>stray</tags>", "MALFORMED_XML"),
        ("<name>" + "x" * LIMIT + "</name>", "TOO_LARGE"),
        ("<a/>" * LIMIT, "TOO_LARGE"),
    ],
)
def test_a_bad_asset_does_not_take_the_others_along(inner: str, code: str) -> None:
    body = f"<assets><asset>{inner}</asset><asset><name>good</name></asset></assets>"
    assert codes(split(body.encode())) == [code, {"attributes": {"name": "good"}}]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"<asset/>",
        b"<assets><table/></assets>",
        b"<assets>text</assets>",
        b"<assets></assets><assets/>",
        b"<assets><asset>",
        b"\xff\xfe\x00",
        b"<assets>&nothing;</assets>",
    ],
)
def test_a_body_that_is_not_well_formed_ends_there(body: bytes) -> None:
    assert codes(split(body)) == ["MALFORMED_XML"]


def test_rows_before_the_break_are_kept() -> None:
    rows = codes(split(b"<assets><asset><name>a</name></asset><asset><name>b</nam></asset></assets>"))
    assert rows == [{"attributes": {"name": "a"}}, "MALFORMED_XML"]


@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;&x;&x;&x;&x;">]>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd">',
    ],
)
def test_a_document_type_is_refused_before_anything_in_it_counts(declared: str) -> None:
    rows = split(f"{declared}<assets><asset><name>&x;</name></asset></assets>".encode())
    assert codes(rows) == ["MALFORMED_XML"]
    assert isinstance(rows[0], Problem)
    assert "document type" in rows[0].description


@pytest.mark.parametrize("beginning", [b"<assets><asset ", b"<assets><!-- ", b"<assets><asset a='"])
def test_a_token_without_end_is_not_held(beginning: bytes) -> None:
    splitter = Xml().splitter(LIMIT)
    rows = list(splitter.feed(beginning))
    tracemalloc.start()
    try:
        for _ in range(2_000):
            rows += splitter.feed(b"x" * 10_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    rows += splitter.finish()
    assert codes(rows) == ["TOO_LARGE"]
    assert peak < 1 << 20


def test_a_document_that_is_nested_too_deep_ends_there() -> None:
    deep = "<a>" * (MAX_DEPTH - 2)
    assert codes(asset(f"{deep}{deep.replace('<', '</')}")) == ["MALFORMED_XML"]  # only this asset: others would follow
    rows = split(b"<assets><asset><name>a</name></asset><asset>" + b"<a>" * 10_000)
    assert codes(rows) == [{"attributes": {"name": "a"}}, "MALFORMED_XML"]
    assert isinstance(rows[1], Problem)
    assert "nested deeper than 8 levels" in rows[1].description


ENCODED = '<?xml version="1.0" encoding="{}"?><assets><asset><name>a</name></asset></assets>'


@pytest.mark.parametrize("encoding", ["nosuch", "utf-7", "rot13", "zlib", "idna", "big5", "cp1252", "undefined"])
def test_an_encoding_that_is_not_supported_is_a_problem(encoding: str) -> None:
    rows = split(ENCODED.format(encoding).encode())
    assert codes(rows) == ["UNSUPPORTED_ENCODING"]
    assert isinstance(rows[0], Problem)
    assert encoding in rows[0].description
    assert "utf-8" in rows[0].description


@pytest.mark.parametrize("encoding", ["UTF-8", "utf-16", "utf-16le", "UTF-16BE", "ISO-8859-1", "us-ascii"])
def test_the_encodings_of_the_standard_are_read(encoding: str) -> None:
    body = ENCODED.format(encoding).encode(encoding)
    mark = {"utf-16le": b"\xff\xfe", "UTF-16BE": b"\xfe\xff"}.get(encoding, b"")
    assert split(mark + body) == [{"attributes": {"name": "a"}}]


def test_expat_is_called_for_whole_pieces_only() -> None:
    """Each call scans an unfinished token again, from its start."""
    splitter, fed = Xml().splitter(10 * PIECE), list[int]()
    parse = splitter._parser.Parse

    class Counting:
        def Parse(self, piece: bytes, last: bool) -> None:  # noqa: FBT001, N802 - the signature is expat's
            fed.append(len(piece))
            parse(piece, last)

    parser, splitter._parser = splitter._parser, Counting()  # type: ignore[assignment]
    body = b"<assets><!-- " + b"x" * (2 * PIECE) + b" --></assets>"
    for start in range(0, len(body), 100):
        assert list(splitter.feed(body[start : start + 100])) == []
    assert list(splitter.finish()) == []
    splitter._parser = parser
    splitter.close()
    assert all(length >= PIECE for length in fed[:-1])
    assert sum(fed) == len(body)
