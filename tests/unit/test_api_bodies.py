"""Request bodies: which content types are read, and how a body of another shape is refused."""

import asyncio

import pytest
from pydantic import BaseModel
from starlette.requests import Request
from starlette.types import Message

from lily.api.http.bodies import read_body, require_media_type
from lily.api.http.errors import Declined
from lily.api.http.openapi.requests import EdgesBody, SqlBody
from lily.model.errors import Refused
from lily.notify.subscriptions import Subscription

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


@pytest.mark.parametrize(
    ("body", "code", "description"),
    [
        (b"[]", "INVALID_TYPE", "the body must be a JSON object"),
        (b"null", "INVALID_TYPE", "the body must be a JSON object"),
        (b"{}", "INVALID_VALUE", "`edges` is missing"),
        (b'{"edges": [{"to": "x", "relationship_type": "y"}]}', "INVALID_VALUE", "`edges.0.from` is missing"),
    ],
)
def test_a_body_of_another_shape_is_refused_in_words_of_the_api(body: bytes, code: str, description: str) -> None:
    refused = refusal(body, EdgesBody)
    assert [(problem.code, problem.description) for problem in refused.problems] == [(code, description)]


@pytest.mark.parametrize(
    ("filters", "description"),
    [
        (b'{"asset": ["x"]}', "unknown field `asset`; did you mean `assets`?"),
        (b'{"kinds": ["incident.open"]}', "unknown kind `incident.open`; use one of: incident.opened, "),
    ],
)
def test_a_problem_inside_a_body_has_its_remedy_and_no_words_of_the_validator(filters: bytes, description: str) -> None:
    body = b'{"name": "n", "channel": "c", "destination": "d", "filters": %b}' % filters
    (problem,) = refusal(body, Subscription).problems
    assert problem.description.startswith(description)


def refusal(body: bytes, shape: type[BaseModel]) -> Refused:
    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    request = Request({"type": "http", "headers": [(b"content-type", b"application/json")]}, receive)
    with pytest.raises(Refused) as refused:
        asyncio.run(read_body(request, shape, 1_000))
    return refused.value


def test_a_missing_field_whose_values_are_listed_names_them() -> None:
    (problem,) = refusal(b'{"sql": "select 1"}', SqlBody).problems
    assert problem.entity == "dialect"
    assert problem.description.startswith("`dialect` is missing; use one of: ")
    assert "snowflake" in problem.description
