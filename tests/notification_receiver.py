"""A receiver of notifications on this machine: what the sample channel posts to, and what it answers."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.threads import in_thread


class Received(NamedTuple):
    path: str
    key: str  # the idempotency key
    body: dict[str, Any]

    @property
    def title(self) -> str:
        return str(self.body["title"])


@dataclass
class Receiver:
    """`answer` decides about a message: a status, and headers. Everything that arrived is in `received`, also what was
    refused; `taken` is what was accepted."""

    url: str = ""
    answer: Callable[[Received], tuple[int, dict[str, str]]] = lambda _: (204, {})
    received: list[Received] = field(default_factory=list)
    taken: list[Received] = field(default_factory=list)

    def at(self, path: str) -> str:
        return f"{self.url}/{path}"

    def fail(self, status: int = 503, **headers: str) -> None:
        self.answer = lambda _: (status, headers)

    def work(self) -> None:
        self.answer = lambda _: (204, {})

    def titles(self) -> list[str]:
        return [one.title for one in self.taken]


@contextmanager
def notification_receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers["webhook-id"] or self.headers["Idempotency-Key"]
            received = Received(self.path.lstrip("/"), str(key), body.get("data", body) | body)
            found.received.append(received)
            status, headers = found.answer(received)
            if status < 300:
                found.taken.append(received)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            """Quiet."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        with in_thread(partial(server.serve_forever, 0.02), server.shutdown):
            yield found
