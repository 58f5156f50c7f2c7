"""Posts bodies to one endpoint, on a connection that is kept open."""

import http.client
import time
from collections.abc import Mapping
from typing import NamedTuple

from lily.model.errors import Transient
from lily.outbound.connections import Deadline, PinnedConnection
from lily.outbound.endpoints import Endpoint
from lily.outbound.guard import Guard

MAX_RESPONSE = 64 << 10  # bytes that are read, so that the connection can be used again
EXCERPT = 200  # characters of a response that an error shows
_CLOSED = (ConnectionResetError, BrokenPipeError, http.client.RemoteDisconnected)
KEEP_SECONDS = 30.0  # after which the host is resolved and checked again


class Unreachable(Transient):
    """The endpoint did not respond, or not in time. It may have got the message."""


class Response(NamedTuple):
    status: int
    excerpt: str


class Poster:
    """Follows no redirect and reads a bounded part of the response. Not safe for several threads."""

    def __init__(self, to: Endpoint, guard: Guard, seconds: float) -> None:
        self._to, self._guard, self._seconds = to, guard, seconds
        self._connection: PinnedConnection | None = None
        self._opened_at = 0.0

    def post(self, body: bytes, headers: Mapping[str, str]) -> Response:
        """Raises Unreachable, UnresolvedName and ForbiddenAddress."""
        is_reused = self._is_open()
        try:
            return self._posted(body, headers)
        except _CLOSED as error:
            self.close()
            if not is_reused:
                raise self._unreachable(error) from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from error
        # The endpoint closed the connection after its last response. A repeated message has the same id.
        return self.post(body, headers)

    def _posted(self, body: bytes, headers: Mapping[str, str]) -> Response:
        connection = self._open()
        with Deadline(connection, self._seconds) as deadline:
            connection.request("POST", self._to.target, body, dict(headers))
            response = connection.getresponse()
            text = response.read(MAX_RESPONSE)
        if deadline.is_over:
            raise TimeoutError(f"no complete response within {self._seconds:g} seconds")
        if response.will_close or not response.isclosed():
            self.close()
        return Response(response.status, _legible(text))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _is_open(self) -> bool:
        if self._connection is not None and time.monotonic() - self._opened_at > KEEP_SECONDS:
            self.close()
        return self._connection is not None

    def _open(self) -> PinnedConnection:
        if self._connection is None:
            to, addresses = self._to, self._guard.addresses(self._to)
            is_encrypted = to.scheme == "https"
            self._connection = PinnedConnection(to.host, to.port, addresses, self._seconds, is_encrypted=is_encrypted)
            self._opened_at = time.monotonic()
        return self._connection

    def _unreachable(self, error: Exception) -> Unreachable:
        described = f"{type(error).__name__}: {error}"[:EXCERPT]
        return Unreachable(f"{self._to.shown} did not respond: {described}. It is tried again.")


def _legible(text: bytes) -> str:
    shown = text[: 4 * EXCERPT].decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else " " for letter in shown)[:EXCERPT].strip()
