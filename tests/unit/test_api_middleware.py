"""What the outermost layer answers when nothing below it did."""

import asyncio
import time
from typing import Any

import orjson
import pytest

from lily.api.http.server.middleware import RequestMiddleware
from lily.api.http.server.request_log import RequestLog
from lily.api.http.server.safe_headers import SAFE_HEADERS
from lily.api.metrics import ApiMetrics
from lily.api.reads.fast_read import AssetFuture, Reading
from lily.store.assets import StoredAsset

AT = "2026-01-01T00:00:00.000000Z"
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


@pytest.mark.parametrize(
    ("own", "cache"), [([], [b"no-store"]), ([(b"cache-control", b"public, immutable")], [b"public, immutable"])]
)
def test_a_response_is_neither_sniffed_nor_stored_unless_it_says_otherwise(
    own: list[tuple[bytes, bytes]], cache: list[bytes]
) -> None:
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001 - the signature is ASGI's
        await send({"type": "http.response.start", "status": 200, "headers": own})

    async def send(message: Any) -> None:
        sent.append(message)

    async def serve() -> None:
        await RequestMiddleware(app, RequestLog(ApiMetrics().requests, "ERROR"), traced=False)(
            dict(SCOPE), receive, send
        )

    asyncio.run(serve())
    headers = sent[0]["headers"]
    assert [value for name, value in headers if name == b"cache-control"] == cache
    assert [value for name, value in headers if name == b"x-content-type-options"] == [b"nosniff"]


def test_the_fast_read_sends_the_same_headers() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def read() -> None:
        asset: AssetFuture = asyncio.get_running_loop().create_future()
        asset.set_result(StoredAsset("t", "1", "shop.orders", {}, 1, AT, AT))
        request_log = RequestLog(ApiMetrics().requests, "ERROR")
        assert await Reading(asset, "c", time.perf_counter(), request_log).respond(send)

    asyncio.run(read())
    assert set(SAFE_HEADERS) < set(sent[0]["headers"])
