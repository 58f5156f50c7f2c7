"""A light HTTP client in a process of its own: `python -m bench.http_load`, with its order as JSON on standard input.

So many connections, kept alive, each with one request under way; requests are ready-made bytes, taken in turn, again
and again for some time or each of them once. At a rate, each request is due at its time, and its latency counts from
then. An answer is read only as far as its status and its length. It prints what it saw as JSON, and at a
rate also how late its own timers were: where that is not small, the client waited for a processor as well.
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

    def __init__(
        self,
        requests: Iterator[bytes],
        latencies: list[float],
        statuses: dict[str, int],
        due: Iterator[float] | None = None,
    ) -> None:
        self._requests, self._latencies, self._statuses, self._due = requests, latencies, statuses, due
        self.delays: list[float] = []  # by which a timer came late
        self._transport: Any = None
        self._received, self._sent = bytearray(), 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(_BODY)
        if end < 0:
            return
        head = bytes(self._received[:end]).lower()
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
        self._end()

    def _next(self) -> None:
        self._received, self._sent = bytearray(), time.perf_counter()
        if self._due is None:
            self._send()
            return
        late = self._sent - next(self._due)
        self._sent -= late
        asyncio.get_running_loop().call_later(max(-late, 0), self._send_due, time.perf_counter() + max(-late, 0))

    def _send_due(self, wanted: float) -> None:
        self.delays.append(time.perf_counter() - wanted)
        self._send()

    def _send(self) -> None:
        if self._transport.is_closing():
            return
        if (following := next(self._requests, None)) is None:
            self._end()
        else:
            self._transport.write(following)

    def _end(self) -> None:
        if not self.done.done():
            self.done.set_result(None)


async def _drive(order: dict[str, Any]) -> dict[str, Any]:
    texts = [text.encode() for text in order["requests"]]
    requests = iter(texts) if order["once"] else itertools.cycle(texts)
    latencies: list[float] = []
    statuses: dict[str, int] = {}
    loop, cpu, clock, began = asyncio.get_running_loop(), time.process_time(), time.time(), time.perf_counter()
    rate = order.get("rate")
    due = (began + number / rate for number in itertools.count()) if rate else None
    opened = [
        await loop.create_connection(
            lambda: Connection(requests, latencies, statuses, due), order["host"], order["port"]
        )
        for _ in range(order["connections"])
    ]
    await asyncio.wait([connection.done for _, connection in opened], timeout=order["seconds"])
    seconds = time.perf_counter() - began
    for transport, _ in opened:
        transport.abort()
    delays = [delay for _, connection in opened for delay in connection.delays]
    return {
        "began": clock,
        **({"client_late_p99_ms": percentile(delays, 99) * 1000} if rate else {}),
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
    return _run(url, requests, {"connections": connections, "seconds": seconds, "once": False})


def drive_at(url: str, requests: Sequence[str], *, connections: int, seconds: float, rate: float) -> dict[str, Any]:
    """As `drive`, with so many requests a second, whether or not earlier ones were answered. Connections share them."""
    return _run(url, requests, {"connections": connections, "seconds": seconds, "once": False, "rate": rate})


def send_all(url: str, requests: Sequence[str], *, connections: int, seconds: float) -> dict[str, Any]:
    """Sends each request once. Raises BenchError if that takes longer, or if an answer was anything but a success."""
    seen = _run(url, requests, {"connections": connections, "seconds": seconds, "once": True})
    if seen["requests"] != len(requests):
        raise BenchError(f"{url} answered {seen['requests']} of {len(requests)} requests within {seconds:g} seconds")
    return seen


def _run(url: str, requests: Sequence[str], order: dict[str, Any]) -> dict[str, Any]:
    place = urlsplit(url)
    order |= {"host": place.hostname, "port": place.port, "requests": list(requests)}
    done = subprocess.run(
        [sys.executable, "-m", "bench.http_load"], input=json.dumps(order),
        capture_output=True, text=True, timeout=order["seconds"] + 60, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise BenchError(f"the HTTP client failed: {done.stderr[-1000:]}")
    seen: dict[str, Any] = json.loads(done.stdout)
    if bad := {status: count for status, count in seen["statuses"].items() if status[0] != "2" and count}:
        raise BenchError(f"{url} answered {bad} among {seen['requests']} requests")
    return seen


if __name__ == "__main__":
    print(json.dumps(uvloop.run(_drive(json.load(sys.stdin)))))
