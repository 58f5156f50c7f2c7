"""Bulk bodies in every built-in format: the same assets, whatever they are written in."""

import io
import zipfile
from typing import Any

import orjson
import pytest

from tests.contract.door import WAIT, Door, codes
from tests.workbooks import workbook

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ROWS: list[list[Any]] = [
    ["entity_type", "name", "qualified_name", "parent", "owner", "description", "tags"],
    ["database", "shop", "shop", None, "ann", None, None],
    ["table", "orders", "shop.orders", "shop", "bob", 'a "quoted" text, with a comma\nand a line', "Finance|PII"],
    ["column", "id", "shop.orders.id", "shop.orders", None, None, None],
]
ATTRIBUTES = [
    {name: cell for name, cell in zip(ROWS[0][1:], row[1:], strict=True) if cell is not None} for row in ROWS[1:]
]
for attributes in ATTRIBUTES:
    if "tags" in attributes:
        attributes["tags"] = attributes["tags"].split("|")
BODIES = [{"entity_type": row[0], "attributes": stated} for row, stated in zip(ROWS[1:], ATTRIBUTES, strict=True)]


def csv_of(rows: list[list[Any]]) -> bytes:
    cells = [['"' + str(cell).replace('"', '""') + '"' if cell is not None else "" for cell in row] for row in rows]
    return "\r\n".join(",".join(row) for row in cells).encode()


def xml_of(bodies: list[dict[str, Any]]) -> bytes:
    def element(name: str, value: Any) -> str:
        inner = "".join(element("tag", item) for item in value) if isinstance(value, list) else value
        return f"<{name}>{inner}</{name}>"

    assets = (
        element("entity_type", body["entity_type"]) + "".join(element(*one) for one in body["attributes"].items())
        for body in bodies
    )
    return f"<assets>{''.join(f'<asset>{asset}</asset>' for asset in assets)}</assets>".encode()


FORMATS = {
    "application/x-ndjson": b"\n".join(map(orjson.dumps, BODIES)),
    "application/json": orjson.dumps(BODIES),
    "text/csv; charset=utf-8": csv_of(ROWS),
    "application/xml": xml_of(BODIES),
    "text/xml": xml_of(BODIES),
    XLSX: workbook(ROWS),
}


def post(door: Door, media_type: str, body: bytes) -> Any:
    return door.http.post("/ingest-metadata/bulk", content=body, headers=WAIT | {"Content-Type": media_type})


@pytest.mark.parametrize("media_type", FORMATS)
def test_the_same_assets_in_every_format(door: Door, media_type: str) -> None:
    answer = post(door, media_type, FORMATS[media_type])
    assert (answer.status_code, answer.json()) == (200, {"accepted": 3, "rejected": 0, "errors": []})
    for body in BODIES:
        read = door.read(body["attributes"]["qualified_name"])
        assert read["entity_type"] == body["entity_type"]
        shown = {name: read["attributes"].get(name) for name in body["attributes"]}
        assert shown == body["attributes"]
    assert door.read("shop")["attributes"].get("description") is None


GOOD = b"<asset><entity_type>table</entity_type><name>good</name></asset>"
MIXED = {
    "text/csv": b"entity_type,name\ntable,good\ntabel,bad\n\ntable,b,c\ntable,also good\n",
    "application/xml": b"<assets>" + GOOD + GOOD.replace(b"table<", b"tabel<") + b"<!-- a comment --><asset/>"
    b"<asset><x><y><z/></y></x></asset>" + GOOD + b"</assets>",
    XLSX: workbook(
        [["entity_type", "name"], ["table", "good"], ["tabel", "bad"], [], [None, None, "x"], ["table", "too"]]
    ),
}


@pytest.mark.parametrize(("media_type", "body"), MIXED.items(), ids=list(MIXED))
def test_each_row_stands_for_itself(door: Door, media_type: str, body: bytes) -> None:
    told = post(door, media_type, body).json()
    assert told["accepted"] == 2
    assert {error["row"] for error in told["errors"]} >= {2, 4}
    assert "UNKNOWN_ENTITY_TYPE" in {error["code"] for error in told["errors"]}


@pytest.mark.parametrize("media_type", ["text/csv", "application/xml", XLSX])
@pytest.mark.parametrize("body", [b"", b"\x00\xff" * 100, b"<!DOCTYPE a [<!ENTITY x 'y'>]><assets/>"])
def test_a_body_of_which_nothing_can_be_read_is_refused(door: Door, media_type: str, body: bytes) -> None:
    answer = post(door, media_type, body)
    assert answer.status_code == 400
    assert codes(answer) <= {"MALFORMED_CSV", "MALFORMED_TABLE", "MALFORMED_XML", "MALFORMED_XLSX"}


def test_a_workbook_that_would_unpack_to_gigabytes_is_refused(door: Door) -> None:
    archive = io.BytesIO(workbook(ROWS))
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as file, file.open("xl/bomb.xml", "w") as part:
        for _ in range(100):
            part.write(bytes(1 << 20))
    answer = post(door, XLSX, archive.getvalue())
    assert (answer.status_code, codes(answer)) == (400, {"TOO_LARGE"})


def test_the_document_names_every_installed_format(door: Door) -> None:
    content = door.http.get("/openapi.json").json()["paths"]["/ingest-metadata/bulk"]["post"]["requestBody"]["content"]
    assert set(content) >= {kind.partition(";")[0] for kind in FORMATS}
