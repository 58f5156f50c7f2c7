"""Serves gRPC while the application runs, in its process and with its services."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc.aio
import structlog

from lily.api.auth.oidc.bearer import MAX_LENGTH
from lily.api.grpc import lineage
from lily.api.grpc.rpcs import Rpcs
from lily.api.http.server.request_log import RequestLog
from lily.api.http.server.tls import Identity, identity
from lily.api.services import Services
from lily.api.workers import WorkerGroup
from lily.model.errors import Terminal
from lily.settings import Settings

GRACE_SECONDS = 5.0
MAX_CONCURRENT_CALLS = 1_000  # each may hold a message of the maximum size
HANDSHAKE_MS = 15_000  # gRPC waits for two minutes
LOCK = "grpc"
RETRY_SECONDS = 1.0  # between attempts to take over from a worker that has ended

log = structlog.get_logger()

SERVICES = {lineage.SERVICE: lineage.RPCS}


@asynccontextmanager
async def served(services: Services) -> AsyncIterator[None]:
    """Serves on the configured port; does nothing if none is configured. Raises Terminal if the port is in use. Running
    calls may finish at the end."""
    settings = services.settings
    if not settings.grpc_port:
        yield
        return
    server = grpc.aio.server(maximum_concurrent_rpcs=MAX_CONCURRENT_CALLS, options=_options(settings.limits.body_bytes))
    rpcs = Rpcs(services, RequestLog(services.metrics.rpcs, settings.log_level))
    server.add_generic_rpc_handlers([rpcs.handler(name, service) for name, service in SERVICES.items()])
    _listen(server, settings)
    await server.start()
    try:
        yield
    finally:
        await server.stop(GRACE_SECONDS)


@asynccontextmanager
async def served_by_one(services: Services, group: WorkerGroup) -> AsyncIterator[None]:
    """Of several workers one serves gRPC; when it ends, another takes over. Raises Terminal like `served`."""
    with group.try_lock(LOCK) as locked:
        if locked:
            async with served(services):
                yield
            return
    waiting = asyncio.create_task(_take_over(services, group))
    try:
        yield
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def _take_over(services: Services, group: WorkerGroup) -> None:
    while True:
        await asyncio.sleep(RETRY_SECONDS)
        with group.try_lock(LOCK) as locked:
            if not locked:
                continue
            try:
                async with served(services):
                    await asyncio.Event().wait()  # until this task is cancelled
            except Terminal as error:
                log.warning("grpc.cannot_listen", reason=str(error), retry_seconds=RETRY_SECONDS)


def _options(max_bytes: int) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", max_bytes),
        ("grpc.max_metadata_size", 2 * MAX_LENGTH),  # by default an access token of the largest size would not fit
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
        # With port sharing, a second process on the port would silently get half of the calls.
        ("grpc.so_reuseport", 0),
    ]


def _listen(server: grpc.aio.Server, settings: Settings) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"{host}:{settings.grpc_port}"
    served = identity(settings.tls)
    try:
        if served is None:
            server.add_insecure_port(address)
        else:
            server.add_secure_port(address, _credentials(served))
    except RuntimeError as error:
        raise Terminal(
            f"gRPC cannot listen on {address}. "
            "If another process uses the port, stop it or choose another with LILY_GRPC_PORT."
        ) from error


def _credentials(served: Identity) -> grpc.ServerCredentials:
    pairs = [(served.key, served.certificate)]
    return grpc.ssl_server_credentials(pairs, served.client_ca, require_client_auth=served.client_ca is not None)
