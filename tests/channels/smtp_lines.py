"""A server that sends lines and listens, whatever it hears: for what no mail server should do."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from tests.threads import in_thread


@dataclass
class Heard:
    port: int
    lines: list[bytes] = field(default_factory=list)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


@contextmanager
def smtp_lines(*replies: bytes, hangs: bool = False) -> Iterator[Heard]:
    """Sends one reply, and then one for each line that it gets; hangs up after the last."""
    ended = threading.Event()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if hangs:
                ended.wait()
            try:
                for number, reply in enumerate(replies):
                    if number:
                        heard.lines.append(self.rfile.readline())
                    self.wfile.write(reply)
                self.connection.shutdown(socket.SHUT_WR)
                while self.rfile.read(1 << 16):  # unread bytes would reset the connection before the reply is read
                    continue
            except OSError:
                return  # the client is content with less

    with _Server(("127.0.0.1", 0), Handler) as server:
        heard = Heard(server.server_address[1])
        with in_thread(partial(server.serve_forever, 0.01), server.shutdown):
            try:
                yield heard
            finally:
                ended.set()
