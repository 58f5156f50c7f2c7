"""What both clients know of a WebSocket that follows the changes: its address, its position, when to come back."""

import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import orjson
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.http11 import Response

from lily.client import reading
from lily.client.address import Address
from lily.client.answers import Notification
from lily.client.errors import LilyApiError, Refused, Unavailable, error_for, unexpected, unreachable
from lily.client.retry import Attempts, Retry
from lily.model.errors import Problem

PATH = "/ws/notifications"
OPEN_SECONDS = 10.0
CLOSE_SECONDS = 2.0
BROKEN = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError)  # all that a connection may end with

STEADY_SECONDS = 10.0  # a connection that lasted so long was no failed attempt
POLICY = 1008  # RFC 6455: the token is no longer good, or the position is lost; coming back as we are cannot help
POSITION = "Lily-Position"


class Subscription:
    """Where the feed stands. A position is taken over only with its message, so nothing is lost in between."""

    def __init__(
        self, address: Address, retry: Retry, since: str | None, filters: Mapping[str, str | Sequence[str] | None]
    ) -> None:
        self._address = address
        self._retry = retry
        self._filters = {name: value for name, value in filters.items() if value is not None}
        self._attempts: Attempts | None = None
        self._connected_at = float("inf")  # while it is not
        self.position = since

    @property
    def url(self) -> str:
        asked = {**self._filters, **({"since": self.position} if self.position else {})}
        query = urlencode(asked, doseq=True)
        return f"{self._address.websocket_url}{PATH}" + (f"?{query}" if query else "")

    @property
    def headers(self) -> dict[str, str]:
        return self._address.headers

    def connected(self, answer: Response | None) -> None:
        """From here on the feed is heard: also a connection that breaks before its first message can be resumed."""
        self._connected_at = time.monotonic()
        self.position = (answer.headers.get(POSITION) if answer else None) or self.position

    def hear(self, message: str | bytes) -> Notification | None:
        """A change; None for a message that only tells the position."""
        try:
            raw = orjson.loads(message)
            self.position = raw.get("position") or self.position
            self._attempts = None
            return reading.notification(raw) if "metadata_id" in raw else None
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise unexpected(0, f"a message of {PATH} is not as the contract says") from error

    def pause_after(self, error: Exception) -> float:
        """Seconds until the next connection; raises the LilyApiError where there is to be none."""
        failure = self._failure(error)
        if isinstance(failure, Unavailable):
            if self._attempts is None or time.monotonic() - self._connected_at > STEADY_SECONDS:
                self._attempts = self._retry.begin()
            self._connected_at = float("inf")
            return self._attempts.pause_after(failure)
        raise failure from error

    def _failure(self, error: Exception) -> LilyApiError:
        if isinstance(error, InvalidStatus):
            answer = error.response
            return error_for(answer.status_code, bytes(answer.body or b""), answer.headers.get("Retry-After", ""))
        if isinstance(error, ConnectionClosed) and error.rcvd is not None and error.rcvd.code == POLICY:
            return Refused(0, [Problem("CLOSED", error.rcvd.reason, PATH)])
        return unreachable(self._address.url, error)
