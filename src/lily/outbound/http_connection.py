"""One HTTP connection of an event loop, to an address that was checked: a request, its response, the next request."""

import asyncio
import re
import ssl
import time
from collections.abc import Mapping, Sequence
from typing import cast

import httptools

from lily.outbound.connections import CONNECT_SECONDS, MAX_ADDRESSES
from lily.outbound.endpoints import Endpoint
from lily.outbound.responses import MAX_RESPONSE, Response, pause

MAX_HEAD = 64 << 10  # bytes of a response before its body
_PORTS = {"https": 443, "http": 80}
_BREAKS = re.compile(r"[\x00-\x1f\x7f]")  # what would end a line of the request, or hide in it
_BREAKS_TARGET = re.compile(r"[\x00-\x20\x7f]")


class BadResponse(Exception):
    """What came back is not HTTP, or has no end to its headers."""


class Closed(ConnectionError):
    """The other side closed the connection before it responded."""


class HttpConnection(asyncio.Protocol):
    """For one request at a time. Reads at most MAX_RESPONSE bytes of a body; `is_open` is False once the connection
    cannot be used again."""

    def __init__(self) -> None:
        self.opened_at = time.monotonic()
        self.is_open = True
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[Response] | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._forget()

    async def send(self, request: bytes) -> Response:
        """Raises Closed, BadResponse and OSError. If it is cancelled, the connection is closed."""
        if self._transport is None or not self.is_open:
            raise Closed("the connection is closed")
        self._waiting = asyncio.get_running_loop().create_future()
        self._forget()
        self._transport.write(request)
        try:
            return await self._waiting
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # that of uvloop derives from nothing

    def data_received(self, data: bytes) -> None:
        if self._waiting is None or self._waiting.done():
            self.close()  # more than was asked for: it would be taken for the next response
            return
        self._head += 0 if self._in_body else len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(BadResponse(type(error).__name__))
            return
        if not self._in_body and self._head > MAX_HEAD:
            self._fail(BadResponse(f"more than {MAX_HEAD} bytes of headers"))
        elif len(self._body) >= MAX_RESPONSE:
            self._finish(reusable=False)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        if self._waiting is None or self._waiting.done():
            return
        if self._in_body:
            self._finish(reusable=False)  # its length is not known, or it broke off: the status is known
        else:
            self._fail(exc or Closed("the connection was closed without a response"))

    def on_message_begin(self) -> None:
        if self._waiting is None or self._waiting.done():
            self.close()  # as in `data_received`

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"retry-after":
            self._retry_after = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._in_body = True

    def on_body(self, body: bytes) -> None:
        self._body += body[: MAX_RESPONSE - len(self._body)]

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < 200:
            self._forget()  # 100 Continue and its like come before the response
        else:
            self._finish(reusable=self._parser.should_keep_alive())

    def _forget(self) -> None:
        self._head, self._in_body, self._body, self._retry_after = 0, False, bytearray(), ""

    def _finish(self, *, reusable: bool) -> None:
        if self._waiting is None or self._waiting.done():
            return
        status = self._parser.get_status_code()
        found = Response(status, bytes(self._body), pause(self._retry_after) if self._retry_after else None)
        self._waiting.set_result(found)
        if not reusable:
            self.close()

    def _fail(self, error: Exception) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)
        self.close()


async def connected(to: Endpoint, addresses: Sequence[str], tls: ssl.SSLContext | None) -> HttpConnection:
    """A connection to the first address that accepts one; nothing is resolved. TLS verifies the name of the host.
    Raises OSError."""
    failed: OSError = OSError("no address")
    for address in addresses[:MAX_ADDRESSES]:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, made = await asyncio.get_running_loop().create_connection(
                    HttpConnection, address, to.port, ssl=tls, server_hostname=to.host if tls else None
                )
        except OSError as error:  # TimeoutError is one
            failed = error
        else:
            return made
    raise failed


def written(to: Endpoint, method: str, target: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    """The bytes of a request. Raises ValueError for what would be read as something else."""
    host = f"[{to.host}]" if ":" in to.host else to.host
    place = host if to.port == _PORTS.get(to.scheme) else f"{host}:{to.port}"
    listed = {"host": place, "accept-encoding": "identity", **headers}
    if body or method not in {"GET", "HEAD"}:
        listed["content-length"] = str(len(body))
    if _BREAKS_TARGET.search(target) or any(_BREAKS.search(part) for pair in listed.items() for part in pair):
        raise ValueError("the target or a header of the request has control characters")
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in listed.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
