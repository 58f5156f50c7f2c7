"""The limits of a connection, on a real uvicorn."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any

import pytest
import uvicorn

from lily.api.http.server.protocol import LIMITS, Protocol
from lily.settings import Limits

PATIENCE = 60  # until a test gives up; nothing is measured
KIB = 1 << 10

Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Client]]


class App:
    """Responds with the number of bytes in the body, after an optional pause before it reads."""

    def __init__(self, limits: Limits, pause: float = 0.0) -> None:
        self.limits, self.pause = limits, pause
        self.requests = 0
        self.disconnected = asyncio.Event()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            scope["state"][LIMITS] = self.limits
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        self.requests += 1
        await asyncio.sleep(self.pause)
        length, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.disconnected.set()
                return
            length, more = length + len(message.get("body", b"")), message.get("more_body", False)
        body = str(length).encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def serving(app: App) -> AsyncIterator[Connect]:
    config = uvicorn.Config(app, port=0, http=Protocol, loop="asyncio", lifespan="on", log_config=None)
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield lambda: asyncio.open_connection("127.0.0.1", port)
    finally:
        server.force_exit = True  # a test that failed may have left connections open
        await server.shutdown()


async def rest(reader: asyncio.StreamReader) -> bytes:
    """Everything until the server closes the connection."""
    async with asyncio.timeout(PATIENCE):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


async def send(writer: asyncio.StreamWriter, data: bytes) -> None:
    try:
        writer.write(data)
        await writer.drain()
    except ConnectionError:  # the server has closed the connection already
        pass


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))

    return run


def problem(response: bytes) -> dict[str, str]:
    head, _, body = response.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 "), response[:200]
    found: dict[str, str] = json.loads(body)["errors"][0]
    return found


@pytest.mark.parametrize(
    "flood",
    [
        pytest.param(b"x: y\r\n", id="small headers"),
        pytest.param(b"y", id="one header"),
    ],
)
@on_a_loop
async def test_headers_without_end_are_refused(flood: bytes) -> None:
    app = App(Limits())
    async with serving(app) as connect:
        reader, writer = await connect()
        response = asyncio.create_task(rest(reader))
        await send(writer, b"GET / HTTP/1.1\r\nhost: a\r\nx: ")
        for _ in range(64):
            await send(writer, flood * (16 * KIB // len(flood)))
        assert (await response) == b"" or problem(response.result())["code"] == "TOO_LARGE"
        writer.close()
    assert app.requests == 0


@on_a_loop
async def test_complete_headers_above_the_limit_are_refused_with_the_limit() -> None:
    app = App(Limits())
    async with serving(app) as connect:
        reader, writer = await connect()
        await send(writer, b"GET / HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 12_000 + b"\r\n")
        found = problem(await rest(reader))
        writer.close()
    assert found["code"] == "TOO_LARGE"
    assert "65536" in found["description"]
    assert app.requests == 0


@on_a_loop
async def test_headers_below_the_limit_and_a_large_body_in_the_same_write_are_served() -> None:
    async with serving(App(Limits())) as connect:
        reader, writer = await connect()
        body = b"b" * (300 * KIB)
        head = b"POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\nx: %b\r\ncontent-length: %d\r\n\r\n"
        await send(writer, head % (b"y" * 60 * KIB, len(body)) + body)
        assert (await rest(reader)).endswith(str(len(body)).encode())
        writer.close()


@on_a_loop
async def test_trailers_without_end_are_refused() -> None:
    app = App(Limits())
    async with serving(app) as connect:
        reader, writer = await connect()
        response = asyncio.create_task(rest(reader))
        await send(writer, b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n")
        for _ in range(64):
            await send(writer, b"x: y\r\n" * 3_000)
        await response
        async with asyncio.timeout(PATIENCE):
            await app.disconnected.wait()
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\r\n", id="an empty line"),
        pytest.param(b"GET / HTTP/1.1\r\nhost: a\r\nx: y", id="half a header"),
        pytest.param(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n\r\n", id="an empty line after a request"),
        pytest.param(b"GET / HTTP/1.1\r\nhost: a\r\n\r\nGET", id="half of the next request"),
    ],
)
@on_a_loop
async def test_a_connection_without_complete_headers_is_closed(sent: bytes) -> None:
    async with serving(App(Limits(header_seconds=0.3))) as connect:
        reader, writer = await connect()
        await send(writer, sent)
        await rest(reader)
        writer.close()


@on_a_loop
async def test_headers_that_arrive_a_byte_at_a_time_do_not_keep_a_connection_open() -> None:
    async with serving(App(Limits(header_seconds=0.5))) as connect:
        reader, writer = await connect()
        response = asyncio.create_task(rest(reader))
        await send(writer, b"GET / HTTP/1.1\r\nx: ")
        while not response.done():
            await send(writer, b"y")
            await asyncio.sleep(0.05)
        writer.close()
        assert response.result() == b""


@on_a_loop
async def test_a_body_that_stops_in_the_middle_ends_the_request() -> None:
    app = App(Limits(body_idle_seconds=0.3))
    async with serving(app) as connect:
        reader, writer = await connect()
        await send(writer, b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf")
        assert await rest(reader) == b""
        async with asyncio.timeout(PATIENCE):
            await app.disconnected.wait()
        writer.close()


@on_a_loop
async def test_a_body_that_the_application_does_not_read_yet_may_pause() -> None:
    app = App(Limits(header_seconds=0.2, body_idle_seconds=0.2), pause=1.0)
    async with serving(app) as connect:
        reader, writer = await connect()
        body = b"b" * (8 << 20)  # more than the buffers hold, so it is not complete before it is read
        response = asyncio.create_task(rest(reader))
        await send(writer, b"POST / HTTP/1.1\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        assert (await response).endswith(str(len(body)).encode())
        writer.close()


@on_a_loop
async def test_a_request_that_is_complete_may_take_longer_than_the_limits() -> None:
    app = App(Limits(header_seconds=0.2, body_idle_seconds=0.2), pause=1.0)
    async with serving(app) as connect:
        reader, writer = await connect()
        await send(writer, b"POST / HTTP/1.1\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbody")
        assert (await rest(reader)).endswith(b"4")
        writer.close()


@on_a_loop
async def test_more_headers_than_permitted_are_refused_with_the_number() -> None:
    app = App(Limits(header_count=20))
    async with serving(app) as connect:
        reader, writer = await connect()
        await send(writer, b"GET / HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 20 + b"\r\n")
        found = problem(await rest(reader))
        writer.close()
    assert found["code"] == "TOO_LARGE"
    assert "20 headers" in found["description"]
    assert app.requests == 0


@on_a_loop
async def test_one_connection_too_many_is_refused_and_there_is_room_again_after_another_ends() -> None:
    request = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
    app = App(Limits(open_connections=2))
    async with serving(app) as connect:
        kept = [await connect(), await connect()]
        for reader, writer in kept:  # the server has accepted both
            await send(writer, request)
            await reader.readuntil(b"\r\n\r\n0")
        reader, writer = await connect()
        refused = await rest(reader)
        writer.close()
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in refused
        assert b"TOO_MANY_CONNECTIONS" in refused
        kept[0][1].close()
        await kept[0][1].wait_closed()
        answered = b""
        while not answered.startswith(b"HTTP/1.1 200"):  # until the server has noticed
            reader, writer = await connect()
            await send(writer, request)
            async with asyncio.timeout(PATIENCE):
                answered = await reader.read(15)
            writer.close()
        kept[1][1].close()
