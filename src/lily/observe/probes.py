"""Health and metrics of a process without an API: `/health/live`, `/health/ready`, `/metrics`."""

import threading
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Silent: probes arrive every second."""


def serve_probes(host: str, port: int, registry: CollectorRegistry, ready: Callable[[], bool]) -> None:
    """Serves in a background thread until the process ends."""
    metrics = make_wsgi_app(registry)

    def respond(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == "/metrics":
            page: Iterable[bytes] = metrics(environ, start_response)
            return page
        healthy = path == "/health/live" or (path == "/health/ready" and ready())
        start_response("200 OK" if healthy else "503 Service Unavailable", [("Content-Type", "application/json")])
        return [b'{"status":"ok"}' if healthy else b'{"status":"starting"}']

    server = make_server(host, port, respond, handler_class=_Quiet)
    threading.Thread(target=server.serve_forever, name="probes", daemon=True).start()
