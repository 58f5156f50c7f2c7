"""The application: FastAPI, with the fast read and the middleware in front of it, and a complete OpenAPI document."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from lily import __version__
from lily.api.auth.engine_keys import hide_engine_key
from lily.api.calls import call_of
from lily.api.grpc.server import served, served_by_one
from lily.api.http.errors import error_response
from lily.api.http.openapi.document import ERRORS, complete
from lily.api.http.openapi.responses import Json
from lily.api.http.server.correlation import correlation_of
from lily.api.http.server.middleware import RequestMiddleware
from lily.api.http.server.paths import keep_encoded_slashes
from lily.api.http.server.protocol import LIMITS
from lily.api.http.server.request_log import RequestLog
from lily.api.metrics import ApiMetrics
from lily.api.reads.fast_read import FastRead
from lily.api.services import Services, opened
from lily.api.workers import WorkerGroup, stopping_with_parent
from lily.model.errors import LilyError
from lily.plugins import installed
from lily.settings import Limits, Settings


class Application(FastAPI):
    """Its services are opened when it starts and closed when it ends; `failure` is the error that kept it from
    starting."""

    services: Services

    def __init__(self, settings: Settings, group: WorkerGroup | None = None) -> None:
        super().__init__(
            title="Lily",
            version=__version__,
            description="A near-real-time metadata platform. Every call but the probes needs a token.",
            lifespan=_lifespan,
            docs_url=None,
            redoc_url=None,
            redirect_slashes=False,
            responses=ERRORS,
        )
        self.settings = settings
        self.group = group
        self.metrics = ApiMetrics(group.directory if group else None)
        self.failure: Exception | None = None
        for kind in (LilyError, HTTPException, RequestValidationError, ClientDisconnect, Exception):
            self.add_exception_handler(kind, _respond)
        request_log, traced = RequestLog(self.metrics.requests, settings.log_level), bool(settings.otlp_endpoint)
        self.fast_read = None if traced else FastRead(lambda: self.services, request_log)  # it records no spans
        self._middleware = RequestMiddleware(super().__call__, request_log, traced=traced)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reading = self.fast_read.begin(scope) if self.fast_read else None
        if reading is None or not await reading.respond(send):
            keep_encoded_slashes(scope)
            hide_engine_key(scope)
            await self._middleware(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        if not self.openapi_schema:
            complete(super().openapi(), self.settings.limits.page, installed().formats.media_types)
        return super().openapi()


@asynccontextmanager
async def _lifespan(app: Application) -> AsyncIterator[dict[str, Limits]]:
    started = False
    try:
        async with opened(app.settings, app.metrics) as services:
            app.services = services
            async with _grpc(services, app.group):
                started = True
                yield {LIMITS: app.settings.limits}
    except Exception as error:
        if not started:
            app.failure = error
            if app.group is not None:
                app.group.report_failure(error)
        raise


@asynccontextmanager
async def _grpc(services: Services, group: WorkerGroup | None) -> AsyncIterator[None]:
    """Serves gRPC beside the application: always in a single process, and in one of several workers."""
    if group is None:
        async with served(services):
            yield
    else:
        with stopping_with_parent():
            async with served_by_one(services, group):
                yield


async def _respond(request: Request, error: Exception) -> Json:
    call = call_of(request)
    if call is not None:
        await call.record_refusal(f"{request.method} {_template(request)}", error)
    response = error_response(error, correlation_of(request.scope))
    if response.status_code == 405 and (methods := _methods(request)):
        response.headers["Allow"] = methods
    return response


def _methods(request: Request) -> str:
    """Every method of the path. The framework names those of one route, but a path can have several routes."""
    paths = request.app.openapi()["paths"]
    return ", ".join(sorted(method.upper() for method in paths.get(_template(request), ())))


def _template(request: Request) -> str:
    return str(getattr(request.scope.get("route"), "path_format", ""))
