"""The parts of the notification feed that both clients share: its request, its position, when to reconnect."""

import ssl
import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import orjson
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.http11 import Response

from lily.client import parsing
from lily.client.address import Address
from lily.client.errors import LilyApiError, Refused, Unavailable, error_for, unexpected, unreachable, untrusted
from lily.client.results import Notification
from lily.client.retry import Attempts, Retry
from lily.model.errors import Problem

PATH = "/ws/notifications"
OPEN_SECONDS = 10.0
CLOSE_SECONDS = 2.0
BROKEN = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError)  # everything that can end a connection

STEADY_SECONDS = 10.0  # a connection that lasted this long counts as a success
POLICY = 1008  # RFC 6455: the token is no longer valid or the position is lost, so reconnecting cannot help
POSITION = "Lily-Position"

Filter = str | Sequence[str] | None


class Subscription:
    """The state of a feed. The position advances only with its message, so a reconnect loses nothing."""

    def __init__(self, address: Address, retry: Retry, since: str | None, filters: Mapping[str, Filter]) -> None:
        self._address = address
        self._retry = retry
        self._filters = {name: value for name, value in filters.items() if value is not None}
        self._attempts: Attempts | None = None
        self._connected_at = float("inf")  # while there is no connection
        self.position = since

    def request(self) -> tuple[str, dict[str, str], ssl.SSLContext | None]:
        """The URL, the headers and the certificates to connect with, so that the feed continues after the last
        position."""
        query = urlencode({**self._filters, **({"since": self.position} if self.position else {})}, doseq=True)
        url = f"{self._address.websocket_url}{PATH}" + (f"?{query}" if query else "")
        return url, self._address.headers, self._address.tls

    def connected(self, response: Response | None) -> None:
        """Takes the position from the handshake: a connection that breaks before its first message can be resumed."""
        self._connected_at = time.monotonic()
        self.position = (response.headers.get(POSITION) if response else None) or self.position

    def read(self, message: str | bytes) -> Notification | None:
        """The change; None for a message that only reports the position."""
        try:
            raw = orjson.loads(message)
            self.position = raw.get("position") or self.position
            self._attempts = None
            return parsing.notification(raw) if "metadata_id" in raw else None
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise unexpected(0, f"A message of {PATH} does not follow the API's contract") from error

    def pause_after(self, error: Exception) -> float:
        """Seconds until the next connection; raises LilyApiError if there should be none."""
        failure = self._failure(error)
        if isinstance(failure, Unavailable):
            if self._attempts is None or time.monotonic() - self._connected_at > STEADY_SECONDS:
                self._attempts = self._retry.begin()
            self._connected_at = float("inf")
            return self._attempts.pause_after(failure)
        raise failure from error

    def _failure(self, error: Exception) -> LilyApiError:
        if isinstance(error, InvalidStatus):
            response = error.response
            return error_for(response.status_code, bytes(response.body or b""), response.headers.get("Retry-After", ""))
        if isinstance(error, ConnectionClosed) and error.rcvd is not None and error.rcvd.code == POLICY:
            return Refused(0, [Problem("CLOSED", error.rcvd.reason, PATH)])
        return untrusted(self._address.url, error) or unreachable(self._address.url, error)


class Feed:
    """A subscription that a client reads from."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription

    @property
    def position(self) -> str | None:
        """Where to resume later: `notifications(since=position)`."""
        return self._subscription.position
