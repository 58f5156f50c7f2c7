"""A receiver on this machine that speaks the protocol of Slack's incoming webhooks, and keeps what it was sent."""

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

HOST = "127.0.0.1"
ACCEPTED = (200, "ok")


class SlackMessage(NamedTuple):
    """`at` is when it arrived, by `time.perf_counter`."""

    title: str
    at: float


@dataclass(frozen=True, slots=True)
class SlackReceiver:
    """As with Slack, knowing the path of a webhook is the permission to post there."""

    port: int
    path: str = field(default_factory=lambda: f"/services/T0001/B0001/{secrets.token_hex(12)}")
    messages: list[SlackMessage] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}{self.path}"

    @property
    def titles(self) -> list[str]:
        return [message.title for message in self.messages]

    def accept(self, path: str, body: bytes) -> tuple[int, str]:
        """Returns the status and the text with which Slack responds."""
        if path != self.path:
            return 404, "no_service"
        try:
            message = json.loads(body)
        except ValueError:
            return 400, "invalid_payload"
        if not isinstance(message, dict) or not message.get("text"):
            return 400, "no_text"
        self.messages.append(SlackMessage(message["text"], time.perf_counter()))
        return ACCEPTED


@contextmanager
def slack_receiver() -> Iterator[SlackReceiver]:
    """Listens on a free port of the loopback interface until the end of the block."""
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.receiver
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a connection that a worker keeps open must not keep the demo from ending

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Handler)
        self.receiver = SlackReceiver(self.server_port)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, text = self.server.receiver.accept(self.path, body)
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Prints nothing: the demo prints its steps."""
