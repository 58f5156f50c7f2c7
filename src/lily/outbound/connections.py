"""HTTP connections to an address that was checked, under the name of the host."""

import http.client
import socket
import ssl
from collections.abc import Sequence
from functools import cache

MAX_ADDRESSES = 4  # that are tried
CONNECT_SECONDS = 5.0  # for each of them


class PinnedConnection(http.client.HTTPConnection):
    """Resolves nothing: it connects to one of the given addresses. TLS, if there is any, verifies the name of the
    host."""

    def __init__(
        self, host: str, port: int, addresses: Sequence[str], seconds: float, tls: ssl.SSLContext | None
    ) -> None:
        super().__init__(host, port, timeout=seconds)
        self._addresses, self._seconds, self._tls = addresses, seconds, tls

    def connect(self) -> None:
        self.sock = connected(self._addresses, self.port, self._seconds)
        if self._tls is not None:
            # The handshake comes after the socket is known, so that a deadline can end it.
            wrapped = self._tls.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = wrapped
            wrapped.do_handshake()


def connected(addresses: Sequence[str], port: int, seconds: float) -> socket.socket:
    """A connection to the first address that accepts one. Raises OSError."""
    failed: OSError = OSError("no address")
    for address in addresses[:MAX_ADDRESSES]:
        try:
            found = socket.create_connection((address, port), min(seconds, CONNECT_SECONDS))
        except OSError as error:
            failed = error
        else:
            found.settimeout(seconds)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return found
    raise failed


@cache
def tls() -> ssl.SSLContext:
    """Verifies the certificate and the name of the other side."""
    return new_tls()


def new_tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
