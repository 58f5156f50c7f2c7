"""Runs uvicorn with Lily's options."""

import resource
import signal
import ssl
from collections.abc import Callable
from typing import Any

import uvicorn

from lily.api.http.server.tls import identity
from lily.model.errors import Terminal
from lily.settings import Settings, Tls

GRACE_SECONDS = 10
OWN_FILES = 500  # connections to Kafka and PostgreSQL, files of the lake
HEALTH_SECONDS = 30  # a worker that does not respond to uvicorn for this long is replaced; enough for a busy machine


class CannotServe(Terminal):
    """uvicorn ended before it served a request."""


def listen(target: Callable[..., Any] | str, settings: Settings) -> None:
    """Serves an application, or with several workers the factory of this name, until SIGTERM or SIGINT; then running
    requests may finish. Raises BadCertificate, and CannotServe if the port is taken or the application did not
    start."""
    identity(settings.tls)
    _permit_open_files(settings.limits.open_connections + OWN_FILES)
    # uvicorn raises the signal that stopped it again at the end; a graceful stop must not look like a crash.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.Handlers.SIG_IGN)
    try:
        uvicorn.run(
            target,
            factory=isinstance(target, str),
            workers=settings.api.workers,
            host=settings.host,
            port=settings.port,
            loop="uvloop",
            # By name: the parent process of several workers serves nothing and need not import it.
            http="lily.api.http.server.protocol:Protocol",
            ws_per_message_deflate=False,  # it would take 300 KB per connection to compress small messages
            lifespan="on",
            access_log=False,
            log_config=None,
            log_level="critical",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            timeout_worker_healthcheck=HEALTH_SECONDS,
            **_tls(settings.tls),
        )
    except SystemExit as error:  # how uvicorn reports that it could not start
        raise CannotServe(
            f"The API cannot listen on {settings.host}:{settings.port}. "
            "If another process uses the port, stop it or choose another with LILY_PORT."
        ) from error


def _permit_open_files(wanted: int) -> None:
    """Each connection is an open file. Many systems permit 1,024 unless a process asks for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def _tls(tls: Tls) -> dict[str, Any]:
    served = {"ssl_certfile": tls.certificate, "ssl_keyfile": tls.key} if tls.certificate else {}
    return served | ({"ssl_ca_certs": str(tls.client_ca), "ssl_cert_reqs": ssl.CERT_REQUIRED} if tls.client_ca else {})
