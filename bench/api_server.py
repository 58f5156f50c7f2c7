"""Lily's application under a chosen HTTP server: `python -m bench.api_server`, the choice as JSON in `BENCH_SERVER`.

Both servers get the same application, uvloop, no access log, and as many workers as told; each worker has pools of its
own, as it would have in production.
"""

import gc
import json
import os

import uvicorn
from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops

from bench.uvicorn_override import Override
from lily.api.application import Application
from lily.api.http.protocol import Protocol
from lily.api.server import build
from lily.observe import logs
from lily.settings import Settings

CHOICE = "BENCH_SERVER"
TARGET = "bench.api_server:application"


def application() -> Application:
    """For each worker."""
    settings = Settings()
    logs.configure("api", settings.log_level)
    app = build(settings)
    if _choice()["reads"] == "route":
        app.fast_read = None
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    return app


def _choice() -> dict[str, str]:
    return dict(json.loads(os.environ[CHOICE]))


def main() -> None:
    settings, choice = Settings(), _choice()
    workers = int(choice["workers"])
    if choice["server"] == "granian":
        Granian(
            TARGET, settings.host, settings.port, interface=Interfaces.ASGI, workers=workers, loop=Loops.uvloop,
            http=HTTPModes.http1, log_enabled=False, factory=True, workers_kill_timeout=10,
        ).serve()  # fmt: skip
        return
    uvicorn.run(
        TARGET, factory=True, host=settings.host, port=settings.port, workers=workers, loop="uvloop",
        http=Override if choice["reads"] == "override" else Protocol, lifespan="on", access_log=False,
        log_config=None, log_level="critical", proxy_headers=False, server_header=False,
    )  # fmt: skip


if __name__ == "__main__":
    main()
