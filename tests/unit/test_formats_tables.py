"""Tables: what the cells of CSV and XLSX mean, and what is wrong with a table that cannot be read."""

import csv
import io
import zipfile
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.formats import xlsx
from lily.formats.csv import Csv, RecordEnds
from lily.formats.table import MAX_COLUMNS
from lily.formats.xlsx import Xlsx
from lily.formats.xlsx_parts import MAX_ROWS
from lily.model.errors import Problem
from lily.plugins import Format, Row
from tests.workbooks import workbook

LIMIT = 10_000
HEADER = b"entity_type,name\n"


def asset(name: str) -> dict[str, Any]:
    return {"entity_type": "table", "attributes": {"name": name}}


def split(format_: Format, body: bytes) -> list[Row]:
    splitter = format_.splitter(LIMIT)
    try:
        return [*splitter.feed(body), *splitter.finish()]
    finally:
        splitter.close()


def codes(rows: list[Row]) -> list[Any]:
    return [row.code if isinstance(row, Problem) else row for row in rows]


@given(st.text(alphabet='a",\n ', max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_records_end_where_the_standard_library_ends_them(text: str, cuts: list[int]) -> None:
    body = text.encode()
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    ends, records, rest = RecordEnds(), list[bytes](), b""
    for start, end in pairwise(edges):
        chunk, begin = body[start:end], 0
        for newline in ends.within(chunk):
            records.append(rest + chunk[begin:newline])
            begin, rest = newline + 1, b""
        rest += chunk[begin:]
    ours = [next(csv.reader([record.decode()]), []) for record in [*records, rest]]
    theirs = list(csv.reader(io.StringIO(text, newline="")))
    if (text.endswith("\n") and not ends.inside_quotes) or not text:
        ours.pop()  # what follows the last newline is no record
    assert ours == theirs


def test_an_empty_cell_is_not_stated_and_lists_are_split() -> None:
    body = b"entity_type,name,owner,tags,business_terms,rows\ntable, orders ,  ,PII | GDPR|,|,12\n"
    attributes = {"name": " orders ", "tags": ["PII", "GDPR"], "business_terms": [], "rows": "12"}
    assert split(Csv(), body) == [{"entity_type": "table", "attributes": attributes}]


@pytest.mark.parametrize("format_", [Csv(), Xlsx()], ids=["csv", "xlsx"])
def test_a_header_names_attributes_in_the_case_in_which_they_are_stored(format_: Format) -> None:
    rows = [["entity_type", "name", "costCentre", "Owner"], ["table", "a", "c1", "ada"]]
    body = workbook(rows) if isinstance(format_, Xlsx) else "\n".join(map(",".join, rows)).encode()
    attributes = {"name": "a", "costCentre": "c1", "Owner": "ada"}
    assert split(format_, body) == [{"entity_type": "table", "attributes": attributes}]


def test_blank_records_count_and_say_nothing() -> None:
    body = b"\nname,entity_type\n\na,table\n\r\nb,table"
    assert split(Csv(), body) == [b"", asset("a"), b"", asset("b")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", ["MALFORMED_CSV"]),
        (b"\n\n", ["MALFORMED_CSV"]),
        (b"entity_type,name,,tags\nx,y,z,t", ["MALFORMED_TABLE"]),
        (b"entity_type,name,name\nx,y,z", ["MALFORMED_TABLE"]),
        (b"name,owner\nx,y", ["MALFORMED_TABLE"]),
        (b"entity_type;name\ntable;x", ["MALFORMED_TABLE"]),
        (b"\xff\xff\nx", ["MALFORMED_CSV"]),
        (HEADER + b"table," + b"x" * LIMIT + b"\ntable,y", ["TOO_LARGE", asset("y")]),
        (b"n" * (LIMIT + 1) + b"\nx", ["TOO_LARGE"]),
        (HEADER + b"table\ntable,y", ["MALFORMED_CSV", asset("y")]),
        (HEADER + b"table,y,z\n", ["MALFORMED_TABLE"]),
        (HEADER + b"table,y,\n", [asset("y")]),
        (HEADER + b"table,\xff\ntable,y", ["MALFORMED_CSV", asset("y")]),
        (HEADER + b'table,"x\ny', ["MALFORMED_CSV"]),
    ],
)
def test_what_is_not_quite_csv(body: bytes, expected: list[Any]) -> None:
    assert codes(split(Csv(), body)) == expected


@pytest.mark.parametrize(
    ("body", "description"),
    [
        (HEADER + b"table,x\ntable,caf\xe9\n", "row 2 is not UTF-8; save the file as UTF-8"),
        (b"entity_type,name,caf\xe9\n", "the header is not UTF-8; save the file as UTF-8"),
        (
            b"name;type",
            "the header ('name;type'): 'entity_type' is missing; 'name' is missing; cells are separated by commas",
        ),
        (b"name,owner\nx,y", "the header ('name', 'owner'): 'entity_type' is missing"),
    ],
)
def test_the_reason_names_the_remedy(body: bytes, description: str) -> None:
    assert [row.description for row in split(Csv(), body) if isinstance(row, Problem)] == [description]


def test_a_table_has_no_more_columns_than_an_asset_has_fields() -> None:
    """Also where the surplus is repeated or has no name: that is not looked for."""
    most = ",".join(f"a{number}" for number in range(MAX_COLUMNS - 2))
    assert codes(split(Csv(), f"entity_type,name,{most}\n".encode())) == []
    for surplus in ("more", "name", ",x"):
        (row,) = split(Csv(), f"entity_type,name,{most},{surplus}\n".encode())
        assert isinstance(row, Problem)
        assert f"at most {MAX_COLUMNS} are allowed" in row.description


def test_cells_of_a_workbook_keep_their_types() -> None:
    rows: list[list[Any]] = [
        ["entity_type", "name", "rows", "share", "external", "checked", "time", None],
        ["table", 2024, 12, 0.5, True, datetime(2026, 1, 2, 3, 4, 5), datetime(2026, 1, 2, 3, 4, 5)],  # noqa: DTZ001
        [None, None],
        ["table", "x", None, None, None, None, None, None],
    ]
    attributes = {"name": "2024", "rows": 12, "share": 0.5, "external": True, "checked": "2026-01-02T03:04:05"}
    assert split(Xlsx(), workbook(rows)) == [
        {"entity_type": "table", "time": "2026-01-02T03:04:05Z", "attributes": attributes},
        b"",
        {"entity_type": "table", "attributes": {"name": "x"}},
    ]


def test_a_value_beyond_the_header_is_a_problem_of_its_row() -> None:
    rows = [["entity_type", "name"], ["table", "a", "stray"], ["table", "b"]]
    assert codes(split(Xlsx(), workbook(rows))) == [
        "MALFORMED_TABLE",
        {"entity_type": "table", "attributes": {"name": "b"}},
    ]


def test_a_long_row_of_a_workbook_is_a_problem() -> None:
    rows = [["entity_type", "name"], ["table", "x" * (LIMIT + 1)], ["table", "short"]]
    assert codes(split(Xlsx(), workbook(rows)))[0] == "TOO_LARGE"
    assert len(split(Xlsx(), workbook(rows))) == 2


def test_what_is_no_workbook_is_refused() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("hello.txt", "hello")
    for body in (b"", b"hello", archive.getvalue(), workbook([["entity_type", "name"]])[:-100]):
        assert codes(split(Xlsx(), body)) == ["MALFORMED_XLSX"]
    assert codes(split(Xlsx(), workbook([]))) == ["MALFORMED_TABLE"]
    assert codes(split(Xlsx(), workbook([["name"], ["a"]]))) == ["MALFORMED_TABLE"]


def test_a_workbook_that_is_too_large_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "MAX_BYTES", 1_000)
    splitter = Xlsx().splitter(LIMIT)
    for _ in range(100):
        assert list(splitter.feed(b"x" * 100)) == []
    assert splitter._file.tell() <= 1_000
    assert codes(list(splitter.finish())) == ["TOO_LARGE"]
    splitter.close()


def test_a_row_number_out_of_this_world_ends_with_the_sheet() -> None:
    """A sheet names the numbers of its rows, and the library fills the gaps."""
    original, changed = zipfile.ZipFile(io.BytesIO(workbook([["entity_type", "name"], ["table", "a"]]))), io.BytesIO()
    with original, zipfile.ZipFile(changed, "w") as file:
        for part in original.namelist():
            text = original.read(part)
            if part.endswith("sheet1.xml"):
                text = text.replace(b'<row r="2"', b'<row r="4000000000"').replace(b'"A2"', b'"A4000000000"')
            file.writestr(part, text)
    rows = split(Xlsx(), changed.getvalue())
    assert len(rows) <= MAX_ROWS
    assert not any(isinstance(row, dict) for row in rows)
