"""Puts the API together, and serves it."""

import gc
import signal

import uvicorn
from fastapi import FastAPI

from lily.api.application import Application
from lily.api.http.protocol import Protocol
from lily.api.routes import (
    attribute_rules,
    attributes,
    bulk,
    dead_letters,
    docs,
    dry_run,
    health,
    history,
    home,
    ingest,
    lineage,
    lineage_sql,
    metadata,
    metrics,
    notifications,
    openlineage,
    propagations,
    schemas,
    search,
    settings,
    tag_definitions,
    tags,
)
from lily.model.errors import Terminal
from lily.settings import Settings

GRACE_SECONDS = 10

# The order decides: `/metadata/{id}` takes anything after the slash, so whatever is more exact comes before it.
ROUTERS = (
    ingest.router,
    bulk.router,
    search.router,
    history.router,
    tags.router,
    attributes.router,
    metadata.router,
    propagations.router,
    dry_run.router,
    tag_definitions.router,
    attribute_rules.router,
    settings.router,
    openlineage.router,
    lineage_sql.router,
    lineage.router,
    dead_letters.router,
    notifications.router,
    health.router,
    metrics.router,
    schemas.router,
    docs.router,
    home.router,
)


def build(settings: Settings) -> FastAPI:
    """The application. Nothing is opened before it starts, so its OpenAPI document needs no database."""
    return _application(settings)


def serve(settings: Settings) -> None:
    """Serves until SIGTERM or SIGINT, then lets running requests finish. Raises what kept it from starting."""
    app = _application(settings)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            loop="uvloop",
            http=Protocol,
            ws_per_message_deflate=False,  # 300 KB a connection, to make small messages smaller
            lifespan="on",
            access_log=False,
            log_config=None,
            log_level="critical",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )
    gc.freeze()  # what the start has made stays; looking through it again and again took 3 % of the time
    gc.set_threshold(20_000, 20, 50)
    # uvicorn repeats the signal that stopped it once it is done; an orderly stop is not to look like a crash.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.Handlers.SIG_IGN)
    try:
        server.run()
    except SystemExit as error:  # uvicorn's way to say that it could not start
        raise app.failure or Terminal(
            f"The API cannot listen on {settings.host}:{settings.port}. Is another process there? Choose another port."
        ) from error


def _application(settings: Settings) -> Application:
    app = Application(settings)
    for router in ROUTERS:
        app.include_router(router)
    return app
