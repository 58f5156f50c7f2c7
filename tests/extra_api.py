"""A further `lily api` beside the shared stack, with settings of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx

from lily.embedded.bootstrap import master_key_of
from lily.embedded.ports import choose_ports
from lily.embedded.probes import http_ready, tls_responds
from tests.shared_stack import Stack

START_SECONDS = 60
LILY_API = ("-m", "lily", "api")


@contextmanager
def extra_api(stack: Stack, log: Path, command: Sequence[str] = LILY_API, **settings: str) -> Iterator[Stack]:
    """The stack as it is seen through the further API. Its log is written to the file."""
    environment = surroundings_of(stack, **settings)
    port, tls = int(environment["LILY_PORT"]), "LILY_TLS__CERTIFICATE" in settings
    url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    responds = tls_responds if tls else http_ready
    with log.open("wb") as output, subprocess.Popen([sys.executable, *command], env=environment, stderr=output) as api:
        try:
            until(lambda: responds(port) or api.poll() is not None)
            assert api.poll() is None, log.read_text()
            yield replace(stack, url=url, grpc=f"127.0.0.1:{environment['LILY_GRPC_PORT']}")
        finally:
            api.terminate()
            api.wait(30)


def surroundings_of(stack: Stack, **settings: str) -> dict[str, str]:
    """The variables of a further API, on ports of its own."""
    ports = choose_ports(["api", "grpc"], {})
    return {
        **os.environ,
        "LILY_DATA_DIR": str(stack.data_dir),
        "LILY_MASTER_KEY_FILE": str(master_key_of(stack.data_dir)),
        **stack.kafka.variables_of("api"),
        "LILY_DATABASE_URL": stack.database_of("lily_api"),
        "LILY_PORT": str(ports["api"]),
        "LILY_GRPC_PORT": str(ports["grpc"]),
        **settings,
    }


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/ready", timeout=10).is_success
    except httpx.TransportError:
        return False


def until(happened: Callable[[], bool], seconds: float = START_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
