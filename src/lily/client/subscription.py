"""What both clients know of a WebSocket that follows the changes: its address, its position, when to come back."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import orjson
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from lily.client import reading
from lily.client.address import Address
from lily.client.answers import Notification
from lily.client.errors import LilyApiError, Unavailable, error_for, unexpected, unreachable
from lily.client.retry import Attempts, Retry
from lily.model.errors import Problem

PATH = "/ws/notifications"
OPEN_SECONDS = 10.0
BROKEN = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError)  # all that a connection may end with

# Close codes of RFC 6455: these say that coming back as we are cannot help.
_POLICY, _UNSUPPORTED = 1008, 1003
_HOPELESS = frozenset({_POLICY, _UNSUPPORTED})


class Subscription:
    """Where the feed stands. A position is taken over only with its message, so nothing is lost in between."""

    def __init__(
        self, address: Address, retry: Retry, since: str | None, filters: Mapping[str, str | Sequence[str] | None]
    ) -> None:
        self._address = address
        self._retry = retry
        self._filters = {name: value for name, value in filters.items() if value is not None}
        self._attempts: Attempts = retry.begin()
        self.position = since

    @property
    def url(self) -> str:
        asked = {**self._filters, **({"since": self.position} if self.position else {})}
        query = urlencode(asked, doseq=True)
        return f"{self._address.websocket_url}{PATH}" + (f"?{query}" if query else "")

    @property
    def headers(self) -> dict[str, str]:
        return self._address.headers

    def hear(self, message: str | bytes) -> Notification | None:
        """A change; None for a message that only tells the position."""
        try:
            raw = orjson.loads(message)
            self.position = raw.get("position") or self.position
            self._attempts = self._retry.begin()
            return reading.notification(raw) if "metadata_id" in raw else None
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise unexpected(0, f"a message of {PATH} is not as the contract says") from error

    def pause_after(self, error: Exception) -> float:
        """Seconds until the next connection; raises the LilyApiError where there is to be none."""
        failure = self._failure(error)
        if isinstance(failure, Unavailable):
            return self._attempts.pause_after(failure)
        raise failure from error

    def _failure(self, error: Exception) -> LilyApiError:
        if isinstance(error, InvalidStatus):
            answer = error.response
            return error_for(answer.status_code, answer.body or b"", answer.headers.get("Retry-After", ""))
        if isinstance(error, ConnectionClosed) and error.rcvd is not None and error.rcvd.code in _HOPELESS:
            return error_for(403, orjson.dumps({"errors": [_closed(error.rcvd.reason).as_dict()]}))
        return unreachable(self._address.url, error)


def _closed(reason: str) -> Problem:
    return Problem("CLOSED", reason or "the server closed the feed", PATH)
