"""Many statements in one body."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.contract.door import WAIT, Door, codes, names, table

NDJSON = {"Content-Type": "application/x-ndjson"}
JSON = {"Content-Type": "application/json"}


def lines(rows: list[Any]) -> bytes:
    return b"\n".join(orjson.dumps(row) for row in rows)


def stored(door: Door) -> list[str]:
    return sorted(names(door.http.get("/metadata", params={"limit": 1000}).json()["items"]))


@pytest.mark.parametrize("media_type", ["application/x-ndjson", "application/ndjson", "application/jsonl"])
def test_lines_are_taken(door: Door, media_type: str) -> None:
    body = lines([table(f"shop.t{number}") for number in range(5)])
    answer = door.http.post("/ingest-metadata/bulk", content=body, headers=WAIT | {"Content-Type": media_type})
    assert answer.status_code == 200
    assert answer.json() == {"accepted": 5, "rejected": 0, "errors": []}
    assert stored(door) == [f"shop.t{number}" for number in range(5)]


def test_an_array_is_taken(door: Door) -> None:
    rows = [table(f"shop.t{number}", description='quotes " and ] and }, and \\') for number in range(5)]
    answer = door.http.post("/ingest-metadata/bulk", content=orjson.dumps(rows), headers=WAIT | JSON)
    assert (answer.status_code, answer.json()["accepted"]) == (200, 5)
    assert len(stored(door)) == 5


def test_without_waiting_it_is_accepted_with_a_receipt(door: Door) -> None:
    answer = door.http.post("/ingest-metadata/bulk", content=lines([table("a")]), headers=NDJSON)
    assert answer.status_code == 202
    assert door.http.get(f"/propagations/{answer.headers['lily-receipt']}").json()["metadata_id"] is None


def test_each_row_stands_for_itself(door: Door) -> None:
    rows = [table("good.1"), {"entity_type": "table"}, table("good.2") | {"tenant_id": "someone"}, 7, table("good.3")]
    for body, kind in ((lines(rows), NDJSON), (orjson.dumps(rows), JSON)):
        answer = door.http.post("/ingest-metadata/bulk", content=body, headers=WAIT | kind)
        told = answer.json()
        assert (answer.status_code, told["accepted"], told["rejected"]) == (200, 2, 3)
        assert {(error["row"], error["code"]) for error in told["errors"]} == {
            (2, "MISSING_FIELD"),
            (3, "OTHER_TENANT"),
            (4, "INVALID_TYPE"),
        }
    assert stored(door) == ["good.1", "good.3"]


def test_a_broken_line_does_not_take_the_others_along(door: Door) -> None:
    body = b"\r\n".join([orjson.dumps(table("a")), b'{"entity_type": "tab', b"", orjson.dumps(table("b"))]) + b"\n\n"
    answer = door.http.post("/ingest-metadata/bulk", content=body, headers=WAIT | NDJSON)
    assert answer.json()["accepted"] == 2
    assert [(error["row"], error["code"]) for error in answer.json()["errors"]] == [(2, "MALFORMED_JSON")]
    assert stored(door) == ["a", "b"]


def test_too_long_a_row_is_an_error_of_that_row(door: Door) -> None:
    rows = [table("a"), table("long", description="x" * (2 << 20)), table("b")]
    for body, kind in ((lines(rows), NDJSON), (orjson.dumps(rows), JSON)):
        answer = door.http.post("/ingest-metadata/bulk", content=body, headers=WAIT | kind)
        assert [(error["row"], error["code"]) for error in answer.json()["errors"]] == [(2, "TOO_LARGE")]
        assert answer.json()["accepted"] == 2


def test_an_array_that_breaks_off_keeps_what_came_before(door: Door) -> None:
    body = b"[" + orjson.dumps(table("a")) + b"," + orjson.dumps(table("b")) + b',{"entity_type": "ta'
    answer = door.http.post("/ingest-metadata/bulk", content=body, headers=WAIT | JSON)
    assert (answer.status_code, answer.json()["accepted"]) == (200, 2)
    assert [(error["row"], error["code"]) for error in answer.json()["errors"]] == [(3, "MALFORMED_JSON")]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"hello\nworld", NDJSON),
        (b"hello", JSON),
        (b'{"a": 1}', JSON),
        (b"", JSON),
        (b"[nope]", JSON),
        (b"\xff\xff", NDJSON),
    ],
)
def test_a_body_of_which_nothing_can_be_read_is_refused(door: Door, body: bytes, kind: dict[str, str]) -> None:
    answer = door.http.post("/ingest-metadata/bulk", content=body, headers=kind)
    assert answer.status_code == 400
    assert codes(answer) == {"MALFORMED_JSON"}


@pytest.mark.parametrize(("body", "kind"), [(b"[]", JSON), (b" [ ] ", JSON), (b"", NDJSON), (b"\n\n", NDJSON)])
def test_nothing_is_a_legal_amount(door: Door, body: bytes, kind: dict[str, str]) -> None:
    answer = door.http.post("/ingest-metadata/bulk", content=body, headers=kind)
    assert (answer.status_code, answer.json()) == (202, {"accepted": 0, "rejected": 0, "errors": []})


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-yaml", ""])
def test_a_format_that_is_not_installed_is_refused_with_those_that_are(door: Door, media_type: str) -> None:
    answer = door.http.post("/ingest-metadata/bulk", content=b"a,b", headers={"Content-Type": media_type})
    assert answer.status_code == 415
    assert codes(answer) == {"UNSUPPORTED_MEDIA_TYPE"}
    description = answer.json()["errors"][0]["description"]
    assert all(kind in description for kind in ("application/x-ndjson", "application/json", "text/csv", "text/xml"))


def test_errors_are_counted_beyond_those_spelled_out(door: Door) -> None:
    answer = door.http.post("/ingest-metadata/bulk", content=b"{}\n" * 1500, headers=NDJSON)
    told = answer.json()
    assert (answer.status_code, told["accepted"], told["rejected"]) == (202, 0, 1500)
    assert len(told["errors"]) == 1000


def test_a_body_streams_in_pieces_of_any_size(door: Door) -> None:
    body = lines([table(f"shop.t{number}") for number in range(300)])

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 37):
            yield body[start : start + 37]

    answer = door.http.post("/ingest-metadata/bulk", content=pieces(), headers=WAIT | NDJSON)
    assert (answer.status_code, answer.json()["accepted"]) == (200, 300)
    assert len(stored(door)) == 300
