"""Lily's application under a chosen HTTP server: `python -m bench.api_server`, the choice as JSON in `BENCH_SERVER`.

Both servers get the same application, uvloop, no access log, and as many workers as told; each worker has pools of its
own, as it would have in production.
"""

# ruff: noqa: PLC0415 (the process that only watches the workers imports neither the framework nor the other server)

import gc
import json
import os
from typing import TYPE_CHECKING

from lily.settings import Settings

if TYPE_CHECKING:
    from lily.api.application import Application

CHOICE = "BENCH_SERVER"
TARGET = "bench.api_server:application"


def application() -> "Application":
    """For each worker."""
    from lily.api.server import build
    from lily.observe import logs

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


def _granian(settings: Settings, workers: int) -> None:
    from granian import Granian
    from granian.constants import HTTPModes, Interfaces, Loops

    Granian(
        TARGET, settings.host, settings.port, interface=Interfaces.ASGI, workers=workers, loop=Loops.uvloop,
        http=HTTPModes.http1, log_enabled=False, factory=True, workers_kill_timeout=10,
    ).serve()  # fmt: skip


def _uvicorn(settings: Settings, workers: int, protocol: str) -> None:
    import uvicorn

    uvicorn.run(
        TARGET, factory=True, host=settings.host, port=settings.port, workers=workers, loop="uvloop", http=protocol,
        lifespan="on", access_log=False, log_config=None, log_level="critical", proxy_headers=False,
        server_header=False,
    )  # fmt: skip


def main() -> None:
    settings, choice = Settings(), _choice()
    workers = int(choice["workers"])
    if choice["server"] == "granian":
        _granian(settings, workers)
    elif choice["reads"] == "override":
        _uvicorn(settings, workers, "bench.uvicorn_override:Override")
    else:
        _uvicorn(settings, workers, "lily.api.http.server.protocol:Protocol")


if __name__ == "__main__":
    main()
