"""Requests to one host, on a connection that is kept open."""

import http.client
import time
from collections.abc import Mapping

from lily.model.errors import Transient
from lily.outbound.connections import PinnedConnection, tls
from lily.outbound.deadlines import Deadline
from lily.outbound.endpoints import Endpoint
from lily.outbound.guard import Guard
from lily.outbound.responses import EXCERPT, MAX_RESPONSE, Response, pause

_CLOSED = (ConnectionResetError, BrokenPipeError, http.client.RemoteDisconnected)
KEEP_SECONDS = 30.0  # after which the host is resolved and checked again


class Unreachable(Transient):
    """The endpoint did not respond, or not in time. It may have got the message."""


class Poster:
    """Follows no redirect and reads a bounded part of the response. Not safe for several threads."""

    def __init__(self, to: Endpoint, guard: Guard, seconds: float) -> None:
        self._to, self._guard, self._seconds = to, guard, seconds
        self._connection: PinnedConnection | None = None
        self._opened_at = 0.0

    def post(self, body: bytes, headers: Mapping[str, str]) -> Response:
        """A message that a receiver recognises when it comes twice: it is repeated if the endpoint closed the
        connection after its last response. Raises Unreachable, UnresolvedName and ForbiddenAddress."""
        is_reused = self._is_open()
        try:
            return self._responded(body, headers)
        except _CLOSED as error:
            self.close()
            if not is_reused:
                raise unreachable(self._to, error, self._seconds) from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise unreachable(self._to, error, self._seconds) from error
        return self.post(body, headers)

    def _responded(self, body: bytes, headers: Mapping[str, str]) -> Response:
        connection = self._open()
        with Deadline(connection, self._seconds) as deadline:
            connection.request("POST", self._to.target, body or None, dict(headers))
            response = connection.getresponse()
            text = response.read(MAX_RESPONSE)
        if deadline.is_over:
            raise TimeoutError(f"no complete response within {self._seconds:g} seconds")
        if response.will_close or not response.isclosed():
            self.close()
        return Response(response.status, text, pause(response.getheader("Retry-After", "")))

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
            context = tls() if to.is_encrypted else None
            self._connection = PinnedConnection(to.host, to.port, addresses, self._seconds, context)
            self._opened_at = time.monotonic()
        return self._connection


def unreachable(to: Endpoint, error: Exception, seconds: float) -> Unreachable:
    # What is not HTTP is not shown: it may quote the request, whose secrets are not known here.
    text = f": {error}" if isinstance(error, OSError) and str(error) else ""
    if isinstance(error, TimeoutError) and not text:
        text = f": no complete response within {seconds:g} seconds"
    described = f"{type(error).__name__}{text}"[:EXCERPT]
    return Unreachable(f"{to.shown} did not respond: {described}. It is tried again.")
