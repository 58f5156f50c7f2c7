"""Puts the API together, and serves it."""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from lily import __version__
from lily.api.answers import Json
from lily.api.correlation import correlation_of
from lily.api.documents import ERRORS, Documented
from lily.api.errors import answer_for
from lily.api.fast_read import FastRead
from lily.api.front import Front
from lily.api.parts import opened
from lily.api.routes import (
    bulk,
    dead_letters,
    health,
    history,
    ingest,
    metadata,
    metrics,
    notifications,
    pointers,
    propagations,
    search,
    tags,
)
from lily.api.watch import Watch
from lily.model.errors import LilyError, Terminal
from lily.observe import logs, traces
from lily.settings import Settings

GRACE_SECONDS = 10

# The order decides: `/metadata/{id}` takes anything after the slash, so whatever is more exact comes before it.
ROUTERS = (
    ingest.router,
    bulk.router,
    search.router,
    history.router,
    tags.router,
    metadata.router,
    propagations.router,
    dead_letters.router,
    notifications.router,
    health.router,
    metrics.router,
    pointers.router,
)


def build(settings: Settings) -> FastAPI:
    """The application. Nothing is opened before it starts, so its OpenAPI document needs no database."""
    watch = Watch()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            async with opened(settings, watch) as parts:
                app.state.parts = parts
                yield
        except LilyError as error:
            app.state.failure = error
            raise

    app = Documented(
        settings.limits.page,
        title="Lily",
        version=__version__,
        description="A near-real-time metadata platform. Every call but the probes shows a token.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=ERRORS,
    )
    for router in ROUTERS:
        app.include_router(router)
    for kind in (LilyError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _answer)
    app.add_middleware(FastRead)
    app.add_middleware(Front, watch=watch, traced=bool(settings.otlp_endpoint))
    return app


def serve(settings: Settings) -> None:
    """Serves until SIGTERM or SIGINT, then lets running requests finish. Raises what kept it from starting."""
    logs.configure("api", settings.log_level)
    traces.configure("api", settings.otlp_endpoint)
    app = build(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http="httptools",
        lifespan="on",
        access_log=False,
        log_config=None,
        log_level="critical",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # uvicorn repeats the signal that stopped it once it is done; an orderly stop is not to look like a crash.
    signal.signal(signal.SIGTERM, signal.Handlers.SIG_IGN)
    server = uvicorn.Server(config)
    server.run()
    if not server.started:
        raise getattr(app.state, "failure", None) or Terminal(
            f"The API cannot listen on {settings.host}:{settings.port}. Is another process there? Choose another port."
        )


async def _answer(request: Request, error: Exception) -> Json:
    return answer_for(error, correlation_of(request.scope))
