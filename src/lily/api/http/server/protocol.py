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

TICKS = 3  # looks at a connection within the shortest limit; it is closed at most two ticks late
LIMITS = "limits"  # of the API, in the state of uvicorn's lifespan


class Protocol(HttpToolsProtocol):
    """A request that cannot be parsed does not reach the application, so its error response is written here.

    uvicorn keeps headers of any size and waits for the rest of a request without end. Here a connection is closed if
    the client sends too many headers or bytes that are not body, takes too long to send the headers, or stops in the
    middle of a body, and at once if there are too many connections. A timer per connection notices that; a request only
    counts its progress, which costs next to nothing.
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
        self._most_connections: Final = limits.open_connections
        self._header_count: Final = limits.header_count
        self._header_bytes: Final = limits.header_bytes
        self._header_seconds: Final = limits.header_seconds
        self._body_seconds: Final = limits.body_idle_seconds
        self._tick: Final = min(self._header_seconds, self._body_seconds) / TICKS
        self._timer: asyncio.TimerHandle | None = None
        self._progress = 0  # complete headers, and pieces of bodies
        self._seen: int | None = None  # the progress when the client was first seen to owe something, and the time
        self._since = 0.0
        self._read = 0  # bytes of the current read
        self._overhead = 0  # bytes since the last progress: headers, trailers, chunk extensions
        self._problem: Problem | None = None  # why the connection is closed, if it is not the parser's reason

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn's signature
        super().connection_made(transport)
        if len(self.connections) > self._most_connections:
            problem = Problem(
                "TOO_MANY_CONNECTIONS", "this process has no room for another connection; try again later"
            )
            self._respond("503 Service Unavailable", problem, b"retry-after: 1\r\n")
            return
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

    def on_headers_complete(self) -> None:
        # The exact size is computed only if the bytes that were read could exceed the limit.
        if self._overhead + self._read > self._header_bytes and self._head_size() > self._header_bytes:
            self._problem = self._too_large()
            raise Refused(self._problem)  # the parser stops, and uvicorn calls send_400_response
        if len(self.headers) > self._header_count:
            described = f"a request must not have more than {self._header_count} headers"
            self._problem = Problem("TOO_LARGE", described, "headers")
            raise Refused(self._problem)
        self._overhead = 0
        self._progress += 1
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._overhead = 0
        self._progress += 1
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """Also for a URL of more than 64 KiB. Closes the connection, as uvicorn does."""
        self._respond("400 Bad Request", self._problem or Problem("INVALID_HTTP", msg, "request"))

    def _respond(self, status: str, problem: Problem, headers: bytes = b"") -> None:
        """A response without the application. Closes the connection."""
        body = bytes(problems_response(400, [problem]).body)
        head = b"HTTP/1.1 %b\r\ncontent-length: %d\r\ncontent-type: application/json\r\n" % (status.encode(), len(body))
        head += headers + b"".join(b"%b: %b\r\n" % header for header in SAFE_HEADERS)
        self.transport.write(head + b"connection: close\r\n\r\n" + body)
        self.transport.close()

    def _check(self) -> None:
        now = self.loop.time()
        if not self._awaits_client():
            self._seen = None
        elif self._seen != self._progress:
            self._seen, self._since = self._progress, now
        elif now - self._since >= (self._body_seconds if self._headers_complete() else self._header_seconds):
            self._timer = None
            self.transport.close()  # the application is notified that the client has disconnected
            return
        self._timer = self.loop.call_later(self._tick, self._check)

    def _awaits_client(self) -> bool:
        """Whether only the client can end the silence."""
        if not self._headers_complete():
            return True
        if self.cycle.response_complete:
            return self.timeout_keep_alive_task is None  # any byte stops uvicorn's timer, also one of no request
        # While the application does not read, nothing can arrive, and the client is not to blame.
        return self.cycle.more_body and not self.flow.read_paused

    def _headers_complete(self) -> bool:
        """Whether those of the current request are; False before the first request."""
        return self.cycle is not None and self.cycle.scope is self.scope

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)  # `: ` and the line end

    def _too_large(self) -> Problem:
        text = f"the address and the headers of a request must not exceed {self._header_bytes} bytes"
        return Problem("TOO_LARGE", text, "headers")
