"""What the outermost layer answers when nothing below it did."""

import asyncio
from typing import Any

import orjson
import pytest

from lily.api.http.server.middleware import RequestMiddleware
from lily.api.http.server.request_log import RequestLog
from lily.api.metrics import ApiMetrics

SCOPE = {"type": "http", "method": "POST", "path": "/ingest-metadata/bulk", "headers": []}


async def receive() -> dict[str, Any]:
    return {"type": "http.disconnect"}


def test_a_request_that_a_stop_cuts_off_is_told_to_come_again() -> None:
    sent: list[Any] = []

    async def endless(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001 - the signature is ASGI's
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def story() -> None:
        middleware = RequestMiddleware(endless, RequestLog(ApiMetrics().requests, "ERROR"), traced=False)
        serving = asyncio.create_task(middleware(dict(SCOPE), receive, send))
        await asyncio.sleep(0.01)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving

    asyncio.run(story())
    start, body = sent
    assert start["status"] == 503
    assert (b"retry-after", b"1") in start["headers"]
    assert orjson.loads(body["body"])["errors"][0]["code"] == "UNAVAILABLE"
