"""uvicorn's HTTP protocol with limits of headers and of silence, and Lily's error body for what it cannot parse."""

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from lily.api.http.errors import problems_response
from lily.api.http.server.safe_headers import SAFE_HEADERS
from lily.model.errors import Problem, Refused

if TYPE_CHECKING:
    from lily.settings import Limits

LIMITS = "limits"  # of the API, in the state of uvicorn's lifespan


class Protocol(HttpToolsProtocol):
    """A request that cannot be parsed does not reach the application, so its error response is written here.

    uvicorn keeps headers of any size and waits for the rest of a request without end. Here a connection is closed if
    the client sends too many bytes that are not body, takes too long to send the headers, or stops in the middle of a
    body. One timer per connection compares the time with `_deadline`; requests only move the deadline.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        limits = cast("Limits", app_state[LIMITS])
        self._header_bytes: Final = limits.header_bytes
        self._header_seconds: Final = limits.header_seconds
        self._body_seconds: Final = limits.body_idle_seconds
        self._tick: Final = min(self._header_seconds, self._body_seconds)
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None  # by which the client must send something; None while it need not
        self._incomplete = False  # a request has begun and not ended
        self._read = 0  # bytes of the current read
        self._problem: Problem | None = None  # why the connection is closed, if it is not the parser's reason
        self._overhead = 0  # bytes of earlier reads since the last progress: headers, trailers, chunk extensions

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn's signature
        super().connection_made(transport)
        self._deadline = self.loop.time() + self._header_seconds
        self._timer = self.loop.call_later(self._tick, self._check)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self._stop_timer()  # from here on the connection belongs to the WebSocket protocol
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        self._read = len(data)
        self._overhead += self._read
        super().data_received(data)
        if self._overhead > self._header_bytes and not self.transport.is_closing():
            self._problem = self._too_large()
            self.send_400_response(self._problem.description)

    def on_message_begin(self) -> None:
        self._overhead = 0
        self._incomplete = True
        self._deadline = self.loop.time() + self._header_seconds
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        # The exact size is computed only if the bytes read since the request began could exceed the limit.
        if self._overhead + self._read > self._header_bytes and self._head_size() > self._header_bytes:
            self._problem = self._too_large()
            raise Refused(self._problem)  # the parser stops, and uvicorn calls send_400_response
        self._overhead = 0
        self._deadline = self.loop.time() + self._body_seconds
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._overhead = 0
        super().on_body(body)
        # While the application does not read, nothing can arrive, and the client is not to blame.
        self._deadline = None if self.flow.read_paused else self.loop.time() + self._body_seconds

    def on_message_complete(self) -> None:
        self._overhead = 0
        self._incomplete = False
        self._deadline = None
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Also for a URL of more than 64 KiB. Closes the connection, as uvicorn does."""
        body = bytes(problems_response(400, [self._problem or Problem("INVALID_HTTP", msg, "request")]).body)
        head = b"HTTP/1.1 400 Bad Request\r\ncontent-length: %d\r\ncontent-type: application/json\r\n" % len(body)
        head += b"".join(b"%b: %b\r\n" % header for header in SAFE_HEADERS)
        self.transport.write(head + b"connection: close\r\n\r\n" + body)
        self.transport.close()

    def _check(self) -> None:
        now = self.loop.time()
        if self._deadline is None and self._awaits_client():
            self._deadline = now + (self._body_seconds if self._incomplete else self._header_seconds)
        if self._deadline is not None and now >= self._deadline:
            self._timer = None
            self.transport.close()  # the application is notified that the client has disconnected
            return
        pause = self._tick if self._deadline is None else min(self._tick, self._deadline - now)
        self._timer = self.loop.call_later(pause, self._check)

    def _awaits_client(self) -> bool:
        """Whether only the client can end the silence: a body is incomplete, or uvicorn's keep-alive timer, which any
        byte stops, does not run between two requests."""
        if self._incomplete:
            return not self.flow.read_paused
        idle = self.cycle is None or self.cycle.response_complete
        return idle and self.timeout_keep_alive_task is None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)  # `: ` and the line end

    def _too_large(self) -> Problem:
        text = f"the address and the headers of a request must not exceed {self._header_bytes} bytes"
        return Problem("TOO_LARGE", text, "headers")
