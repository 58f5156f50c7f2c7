"""A real HTTP server on loopback that answers as its script says, also badly, and remembers what it was asked."""

import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson

from tests.threads import in_thread


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.body.splitlines() if line]


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        body = self.body if isinstance(self.body, bytes) else orjson.dumps(self.body)
        handler.send_response(self.status)
        for name, value in {"Content-Length": str(len(body)), **self.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)


def drop(handler: BaseHTTPRequestHandler) -> None:
    """Hangs up without a word."""
    handler.close_connection = True


def cut(handler: BaseHTTPRequestHandler) -> None:
    """Hangs up in the middle of an answer."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"metadata_id"')
    handler.close_connection = True


@contextmanager
def hanging(*, drips: bool = False) -> Iterator["Action"]:
    """Never responds until the context ends; or begins to, and goes on byte by byte, each in time."""
    ended = threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        try:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: " if drips else b"")
            while not ended.wait(0.05):
                handler.wfile.write(b"x" if drips else b"")
        except OSError:
            return  # the client has given up

    try:
        yield hang
    finally:
        ended.set()


Action = Callable[[BaseHTTPRequestHandler], None]
Responder = Callable[[Asked], Action]


@dataclass
class BadServer:
    url: str
    script: list[Action] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    responder: Responder | None = None  # responds to what the script has no action for

    def will(self, *actions: Action) -> None:
        """One action a request; the last one stays, unless there is a responder."""
        self.script = list(actions)

    def action_for(self, asked: Asked) -> Action:
        if self.responder is None:
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return self.script.pop(0) if self.script else self.responder(asked)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # connections that wait to be accepted

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off the handshake is none of its business."""
        if not isinstance(sys.exception(), ssl.SSLError):
            super().handle_error(request, client_address)


@contextmanager
def bad_server(tls: ssl.SSLContext | None = None) -> Iterator[BadServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def answer(self) -> None:
            split = urlsplit(self.path)
            params = {name: values[-1] for name, values in parse_qs(split.query).items()}
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, split.path, params, headers, body)
            served.asked.append(asked)
            served.action_for(asked)(self)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 (the names http.server looks for)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = _Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    served = BadServer(f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}")
    with server, in_thread(partial(server.serve_forever, 0.01), server.shutdown):
        yield served
