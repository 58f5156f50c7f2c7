"""The outermost middleware: correlation id, request log, metrics, and a response for every exception."""

import asyncio
import time

import structlog
from opentelemetry import trace
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lily.api.http.errors import error_response
from lily.api.http.server.correlation import HEADER, correlate
from lily.api.http.server.request_log import RequestLog
from lily.api.http.server.safe_headers import SAFE_HEADERS
from lily.model.errors import LilyError, Transient
from lily.observe import traces

UNMATCHED = "unmatched"

log = structlog.get_logger()


class RequestMiddleware:
    """Turns an exception that the application did not handle into an error response."""

    def __init__(self, app: ASGIApp, request_log: RequestLog, *, traced: bool) -> None:
        self._app = app
        self._request_log = request_log
        self._serve = self._traced if traced else self._responded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        correlation = correlate(scope)
        structlog.contextvars.bind_contextvars(correlation=correlation)
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        sent = _Response(send, correlation)
        try:
            await self._serve(scope, receive, sent)
        finally:
            seconds = time.perf_counter() - began
            self._request_log.report(scope["method"], _route(scope), sent.status, seconds, correlation)

    async def _responded(self, scope: Scope, receive: Receive, send: "_Response") -> None:
        try:
            await self._app(scope, receive, send)
        except LilyError as error:
            await error_response(error)(scope, receive, send)
        except asyncio.CancelledError:  # the server stops, and the grace period has passed
            if not send.status:
                await error_response(Transient("The API is stopping. Send the request again."))(scope, receive, send)
            raise
        except Exception as error:
            log.exception("request.failed", method=scope["method"], route=_route(scope))
            if not send.status:
                await error_response(error, send.correlation)(scope, receive, send)

    async def _traced(self, scope: Scope, receive: Receive, send: "_Response") -> None:
        parent = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"traceparent"), "")
        with traces.tracer.start_as_current_span(
            scope["method"], traces.context_of(parent), trace.SpanKind.SERVER
        ) as span:
            await self._responded(scope, receive, send)
            span.update_name(f"{scope['method']} {_route(scope)}")
            span.set_attribute("http.response.status_code", send.status)
            span.set_attribute("lily.correlation", send.correlation)


class _Response:
    """Adds the correlation id and the headers of SAFE_HEADERS to the response, and keeps the status."""

    __slots__ = ("_send", "correlation", "status")

    def __init__(self, send: Send, correlation: str) -> None:
        self._send = send
        self.correlation = correlation
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message["headers"], (HEADER, self.correlation.encode())]
            names = {name for name, _ in headers}
            message["headers"] = headers + [header for header in SAFE_HEADERS if header[0] not in names]
        await self._send(message)


def _route(scope: Scope) -> str:
    return str(getattr(scope.get("route"), "path_format", UNMATCHED))
