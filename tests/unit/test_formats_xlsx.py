"""Workbooks are read within limits: no small file takes much memory or time."""

import io
import zipfile
from collections.abc import Mapping

import pytest

from lily.formats import xlsx_parts
from lily.formats.xlsx import Workbook, Xlsx
from lily.formats.xlsx_parts import Counter, Limits, Parts
from lily.model.errors import Problem, Refused
from tests.workbooks import workbook

SHEET, STYLES, TYPES = "xl/worksheets/sheet1.xml", "xl/styles.xml", "[Content_Types].xml"
HEADER = "<c t='inlineStr'><is><t>entity_type</t></is></c><c t='inlineStr'><is><t>name</t></is></c>"
XMLNS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def changed(parts: Mapping[str, str]) -> bytes:
    """A workbook with one asset, some of whose parts are replaced."""
    original, packed = zipfile.ZipFile(io.BytesIO(workbook([["entity_type", "name"], ["table", "a"]]))), io.BytesIO()
    with original, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name in original.namelist():
            file.writestr(name, parts.get(name) or original.read(name))
        for name in parts.keys() - set(original.namelist()):
            file.writestr(name, parts[name])
    return packed.getvalue()


def original(name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(workbook([["entity_type", "name"]]))) as file:
        return file.read(name).decode()


def sheet(rows: str, after: str = "") -> str:
    return f"<worksheet {XMLNS}><sheetData><row r='1'>{HEADER}</row>{rows}</sheetData>{after}</worksheet>"


def problem(body: bytes) -> Problem:
    splitter = Xlsx().splitter(1 << 20)
    try:
        found = [*splitter.feed(body), *splitter.finish()]
    finally:
        splitter.close()
    assert len(found) == 1
    assert isinstance(found[0], Problem)
    return found[0]


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({SHEET: sheet("<row r='2'>" + "<c/>" * 50_000 + "</row>")}, "row 2 has more than 49152 cells"),
        ({SHEET: sheet("<row r='2'><c t='str'><v>" + "x" * (9 << 20) + "</v></c></row>")}, "row 2 has more than"),
        ({SHEET: sheet("", "<a/>" * 100_001)}, "a part has more than 100000 elements"),
        ({SHEET: sheet("<row r='2'>" + "<c>" * 40 + "</c>" * 40 + "</row>")}, "nested deeper than"),
        ({SHEET: sheet("<!--" + "x" * (5 << 20) + "-->")}, "a single element or text"),
        ({STYLES: original(STYLES).replace("</cellXfs>", "<xf/>" * 30_001 + "</cellXfs>")}, "a part has more than"),
        ({"xl/more.xml": "x" * (70 << 20)}, "decompresses to more than 64 MiB and 20 times its size"),
    ],
)
def test_a_workbook_beyond_a_limit_is_refused(parts: dict[str, str], reason: str) -> None:
    body = changed(parts)
    assert len(body) < 1 << 20
    refused = problem(body)
    assert refused.code == "TOO_LARGE"
    assert reason in refused.description
    assert "send CSV" in refused.description


def test_strings_have_the_limit_of_strings_whatever_they_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lily.formats.xlsx.STRINGS", Limits(elements=100))
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    named = f'<Override PartName="/xl/worksheets/s.xml" ContentType="{kind}"/></Types>'
    types = original(TYPES).replace("</Types>", named)
    strings = f"<sst {XMLNS}>" + "<si/>" * 101 + "</sst>"
    assert "more than 100 elements" in problem(changed({TYPES: types, "xl/worksheets/s.xml": strings})).description


def test_all_parts_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    body = changed({SHEET: sheet("<row/>" * 5_000)})
    monkeypatch.setattr(xlsx_parts, "ELEMENTS_ALLOWANCE", 0)
    assert len(body) < 20_000
    parts = Parts(io.BytesIO(body), 0)
    with pytest.raises(Refused, match="more cells and other elements"):
        parts.read(SHEET)


def test_a_part_that_is_read_again_counts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    body = changed({"xl/more.xml": "<a>" + "x" * 1_000_000 + "</a>"})
    monkeypatch.setattr(xlsx_parts, "ALLOWANCE", 2_100_000 - 20 * len(body))
    parts = Parts(io.BytesIO(body), len(body))
    assert len(parts.read("xl/more.xml")) == len(parts.read("xl/more.xml")) == 1_000_007
    with pytest.raises(Refused, match="decompresses to more"):
        parts.read("xl/more.xml")


def test_only_the_parts_that_the_first_sheet_needs_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[str]()
    read = Parts.open

    def recorded(parts: Parts, name: str) -> object:
        opened.append(name)
        return read(parts, name)

    monkeypatch.setattr(Parts, "open", lambda parts, name, *_: recorded(parts, name))
    splitter = Workbook(1 << 20)
    rows = [*splitter.feed(changed({})), *splitter.finish()]
    splitter.close()
    assert rows == [{"entity_type": "table", "attributes": {"name": "a"}}]
    assert set(opened) == {TYPES, "xl/workbook.xml", "xl/_rels/workbook.xml.rels", STYLES, SHEET}


def test_an_archive_with_a_large_directory_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_parts, "MAX_DIRECTORY_BYTES", 100)
    assert "the directory of the archive" in problem(changed({})).description


def test_more_rows_than_a_sheet_can_have_are_refused_wherever_they_claim_to_be() -> None:
    counter = Counter(Limits(elements=10, row_elements=10, row_text=10, rows=3))
    counter.count(b"<sheetData>" + b"<row r='1'/>" * 3)
    with pytest.raises(Refused, match="more than 3 rows"):
        counter.count(b"<row r='1'/>")
    counter.close()


def test_a_document_type_is_refused() -> None:
    declared = f'<!DOCTYPE a [<!ENTITY x "ha">]>{sheet("")}'
    assert "document type" in problem(changed({SHEET: declared})).description
