"""A light HTTP client in a process of its own: `python -m bench.http_load`, with its order as JSON on standard input.

So many connections, kept alive, each with one request under way; requests are ready-made bytes, taken in turn. An
answer is read only as far as its status and its length. It prints what it saw as JSON.
"""

import asyncio
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import uvloop

from bench.findings import BenchError, percentile

_LENGTH, _BODY = b"content-length: ", b"\r\n\r\n"


class Connection(asyncio.Protocol):
    """Sends, waits for the whole answer, sends the next one."""

    def __init__(self, requests: Iterator[bytes], latencies: list[float], statuses: dict[str, int]) -> None:
        self._requests, self._latencies, self._statuses = requests, latencies, statuses
        self._transport: Any = None
        self._received, self._sent = b"", 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(_BODY)
        if end < 0:
            return
        head = self._received[:end].lower()
        at = head.find(_LENGTH)
        length = int(head[at + len(_LENGTH) :].split(b"\r", 1)[0]) if at >= 0 else 0
        if len(self._received) < end + len(_BODY) + length:
            return
        self._latencies.append(time.perf_counter() - self._sent)
        status = self._received[9:12].decode()
        self._statuses[status] = self._statuses.get(status, 0) + 1
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._statuses["lost"] = self._statuses.get("lost", 0) + (exc is not None)

    def _next(self) -> None:
        self._received, self._sent = b"", time.perf_counter()
        self._transport.write(next(self._requests))


async def _drive(order: dict[str, Any]) -> dict[str, Any]:
    requests = itertools.cycle([text.encode() for text in order["requests"]])
    latencies: list[float] = []
    statuses: dict[str, int] = {}
    loop, cpu, began = asyncio.get_running_loop(), time.process_time(), time.perf_counter()
    opened = [
        await loop.create_connection(lambda: Connection(requests, latencies, statuses), order["host"], order["port"])
        for _ in range(order["connections"])
    ]
    await asyncio.sleep(order["seconds"])
    seconds = time.perf_counter() - began
    for transport, _ in opened:
        transport.abort()
    return {
        "requests": len(latencies),
        "per_second": len(latencies) / seconds,
        "p50_ms": percentile(latencies, 50) * 1000,
        "p99_ms": percentile(latencies, 99) * 1000,
        "statuses": statuses,
        "client_cores": (time.process_time() - cpu) / seconds,
    }


def request(method: str, path: str, headers: dict[str, str], body: str = "") -> str:
    """The text of one request."""
    length = {"content-length": str(len(body.encode()))} if body else {}
    lines = [f"{name}: {value}" for name, value in ({"host": "bench"} | headers | length).items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", body])


def drive(url: str, requests: Sequence[str], *, connections: int, seconds: float) -> dict[str, Any]:
    """Runs the client for so long. Raises BenchError if an answer was anything but a success."""
    place = urlsplit(url)
    order = {"host": place.hostname, "port": place.port, "connections": connections, "seconds": seconds}
    done = subprocess.run(
        [sys.executable, "-m", "bench.http_load"], input=json.dumps(order | {"requests": list(requests)}),
        capture_output=True, text=True, timeout=seconds + 60, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise BenchError(f"the HTTP client failed: {done.stderr[-1000:]}")
    seen: dict[str, Any] = json.loads(done.stdout)
    if bad := {status: count for status, count in seen["statuses"].items() if status[0] != "2" and count}:
        raise BenchError(f"{url} answered {bad} among {seen['requests']} requests")
    return seen


if __name__ == "__main__":
    print(json.dumps(uvloop.run(_drive(json.load(sys.stdin)))))
