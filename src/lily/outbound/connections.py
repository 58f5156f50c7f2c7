"""HTTP connections to an address that was checked, under the name of the host."""

import http.client
import socket
import ssl
import threading
from collections.abc import Sequence
from functools import cache
from typing import Self

MAX_ADDRESSES = 4  # that are tried
CONNECT_SECONDS = 5.0  # for each of them


class PinnedConnection(http.client.HTTPConnection):
    """Resolves nothing: it connects to one of the given addresses. TLS verifies the name of the host."""

    def __init__(self, host: str, port: int, addresses: Sequence[str], seconds: float, *, is_encrypted: bool) -> None:
        super().__init__(host, port, timeout=seconds)
        self._addresses, self._seconds, self._is_encrypted = addresses, seconds, is_encrypted

    def connect(self) -> None:
        self.sock = self._connected()
        if self._is_encrypted:
            # The handshake comes after the socket is known, so that a deadline can end it.
            wrapped = _tls().wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = wrapped
            wrapped.do_handshake()

    def _connected(self) -> socket.socket:
        failed: OSError = OSError("no address")
        for address in self._addresses[:MAX_ADDRESSES]:
            try:
                found = socket.create_connection((address, self.port), min(self._seconds, CONNECT_SECONDS))
            except OSError as error:
                failed = error
            else:
                found.settimeout(self._seconds)
                found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return found
        raise failed


class Deadline:
    """Ends a call after a time as a whole: the socket's own timeout begins anew with every byte that arrives."""

    def __init__(self, connection: http.client.HTTPConnection, seconds: float) -> None:
        self._connection, self.is_over = connection, False
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self.is_over = True
        current = self._connection.sock
        if current is not None:
            try:
                current.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # it is closed already


@cache
def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
