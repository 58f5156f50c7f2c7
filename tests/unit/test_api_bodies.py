"""Request bodies: which content types are read."""

import pytest
from starlette.requests import Request

from lily.api.http.bodies import require_media_type
from lily.api.http.errors import Declined

CSV, NDJSON, XLSX = "text/csv", "application/jsonl", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def accepted(content_type: str) -> str:
    headers = [(b"content-type", content_type.encode())]
    return require_media_type(Request({"type": "http", "headers": headers}), (CSV, NDJSON, XLSX))


@pytest.mark.parametrize(
    "content_type",
    [
        f"{CSV}; charset=utf-8",
        f'{CSV};header=present; Charset = "UTF-8"',
        f"{NDJSON};charset=utf8",
        f"{CSV}; charset=US-ASCII",
        f"{XLSX}; charset=binary",
    ],
)
def test_text_in_utf_8_is_accepted_and_a_workbook_has_no_charset(content_type: str) -> None:
    assert accepted(content_type) == content_type.partition(";")[0]


@pytest.mark.parametrize("content_type", [f"{CSV}; charset=latin1", f'{NDJSON};charset="utf-16"', f"{CSV};charset="])
def test_text_in_another_charset_is_refused(content_type: str) -> None:
    with pytest.raises(Declined) as declined:
        accepted(content_type)
    problem = declined.value.problems[0]
    assert (declined.value.status, problem.code) == (415, "UNSUPPORTED_CHARSET")
    assert "save the file as UTF-8" in problem.description
