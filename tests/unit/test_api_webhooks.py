"""The door of webhooks: what is verified with, what goes into the log, and what does not."""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest
from starlette.requests import Request

from lily.api.http.errors import Declined
from lily.api.metrics import ApiMetrics
from lily.api.webhooks import receiving
from lily.api.webhooks.receiving import LARGE_BODIES, Webhooks
from lily.bus import topics
from lily.intake.sources import by_mapping, plugged_in
from lily.plugins import Intake
from tests.okta import delivery, lifecycle
from tests.quotas import any_failures, unlimited
from tests.signing import SECRET, slack_click, slack_headers

KEYED = {
    "name": "keyed",
    "signature": {"type": "bearer", "header": "X-Api-Key"},
    "fields": {"external_id": "$.id"},
}


class Secrets:
    """The same secrets for every source, and one mapping."""

    def __init__(self, *known: bytes) -> None:
        self._known = known

    async def of(self, _tenant: str, _source: str) -> list[bytes]:
        return list(self._known)

    async def intake(self, _tenant: str, source: str) -> Intake | None:
        return plugged_in(source) or by_mapping(source, KEYED if source == "keyed" else None)


class Log:
    def __init__(self) -> None:
        self.records: list[tuple[str, bytes, bytes]] = []

    async def append(self, records: Sequence[tuple[str, bytes, bytes]]) -> None:
        self.records += records


def received(
    source: str,
    body: bytes,
    headers: Mapping[str, str],
    tenant: str = "acme",
    known: Sequence[bytes] = (SECRET.encode(),),
) -> tuple[Mapping[str, str] | None, list[dict[str, Any]]]:
    """The response, and the data of what is in the log."""
    log = Log()

    async def receive() -> Mapping[str, str] | None:
        secrets: Any = Secrets(*known)
        taking: Any = log
        metrics = ApiMetrics()
        return await Webhooks(secrets, taking, metrics, unlimited(metrics), any_failures(metrics)).receive(
            _request(body, headers), tenant, source
        )

    response = asyncio.run(receive())
    assert {topic for topic, _, _ in log.records} <= {topics.INCIDENTS}
    return response, [orjson.loads(value)["data"] for _, _, value in log.records]


def _request(body: bytes, headers: Mapping[str, str]) -> Request:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    raw.append((b"content-length", str(len(body)).encode()))
    return Request({"type": "http", "method": "POST", "path": "/", "headers": raw, "query_string": b""}, receive)


def test_a_shared_value_never_reaches_the_log() -> None:
    body = orjson.dumps(delivery(lifecycle("suspend", "zoe", "2026-01-01T08:00:00.000Z")))
    response, (data,) = received("okta", body, {"authorization": SECRET, "x-request-id": "1"})
    assert response is None
    assert (data["source"], base64.b64decode(data["body"])) == ("okta", body)
    assert data["headers"] == {"x-request-id": "1"}
    shown = {"X-Api-Key": SECRET, "x-other": f"mine: {SECRET}", "authorization": "Bearer of another", "x-fine": "1"}
    _, (data,) = received("keyed", b'{"id": 1}', shown)
    assert data["headers"] == {"x-fine": "1"}


def test_a_handshake_is_answered_and_not_stored() -> None:
    body = b'{"type": "url_verification", "challenge": "abc"}'
    assert received("slack", body, slack_headers(body)) == ({"challenge": "abc"}, [])
    click = slack_click("0190a5b0-7b1e-8c3d-9e4f-0123456789ab")
    response, stored = received("slack", click, slack_headers(click))
    assert (response, len(stored)) == (None, 1)


@pytest.mark.parametrize(
    ("source", "headers", "tenant"),
    [
        ("okta", {}, "acme"),
        ("okta", {"authorization": f"{SECRET}x"}, "acme"),
        ("okta", {"authorization": SECRET}, "no such tenant"),
        ("nothing", {"authorization": SECRET}, "acme"),
        ("keyed", {"authorization": SECRET}, "acme"),
        ("openlineage", {"authorization": SECRET}, "acme"),
    ],
)
def test_what_is_not_authenticated_is_refused(source: str, headers: dict[str, str], tenant: str) -> None:
    with pytest.raises(Declined) as refused:
        received(source, b"{}", headers, tenant)
    assert (refused.value.status, refused.value.problems[0].code) == (403, "BAD_SIGNATURE")


@pytest.mark.parametrize(
    ("headers", "most"),
    [
        ({"content-length": "100"}, 10),
        ({"content-length": "100", "content-encoding": "gzip"}, LARGE_BODIES),
        ({}, LARGE_BODIES),
    ],
)
def test_few_bodies_that_may_be_large_are_held_at_a_time(headers: dict[str, str], most: int) -> None:
    """A sender need not be authenticated to send one, and 100 KB of gzip can be 10 MB."""
    begun = 0

    async def stalled() -> dict[str, Any]:
        nonlocal begun
        begun += 1
        await asyncio.Event().wait()
        raise AssertionError

    async def receive() -> None:
        secrets: Any = Secrets()
        log: Any = Log()
        metrics = ApiMetrics()
        webhooks = Webhooks(secrets, log, metrics, unlimited(metrics), any_failures(metrics))
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "POST", "path": "/", "headers": raw, "query_string": b""}
        waiting = [asyncio.create_task(webhooks.receive(Request(scope, stalled), "acme", "okta")) for _ in range(10)]
        for _ in range(50):  # turns of the loop: far more than one request needs until it reads
            await asyncio.sleep(0)
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(receive())
    assert begun == most


@pytest.mark.parametrize("source", ["okta", "monte-carlo", "slack", "jira", "keyed"])
def test_a_source_without_a_secret_accepts_nothing(source: str) -> None:
    for headers in ({}, {"authorization": "", "x-api-key": "", "x-mcd-signature": "", "x-hub-signature": "sha256="}):
        with pytest.raises(Declined) as refused:
            received(source, b"{}", headers, known=())
        assert refused.value.status == 403


def test_what_can_only_be_kept_as_it_came_must_fit_into_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MAX_RECORD", 100)
    body = orjson.dumps(delivery(lifecycle("suspend", "zoe", "2026-01-01T08:00:00.000Z")))
    with pytest.raises(Declined, match="must not exceed") as refused:
        received("okta", body, {"authorization": SECRET})
    assert refused.value.status == 413
    _, (stated,) = received("keyed", b'{"id": "' + b"x" * 200 + b'"}', {"X-Api-Key": SECRET})
    assert stated["external_id"] == "x" * 200
