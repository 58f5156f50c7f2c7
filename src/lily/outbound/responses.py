"""What an endpoint responded, and whether another attempt may help."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

MAX_RESPONSE = 64 << 10  # bytes that are read, so that the connection can be used again
MAX_PAUSE = 3_600.0  # seconds: no receiver can hold a message back for longer
EXCERPT = 200  # characters of a response that an error shows
_PASSING = frozenset({408, 409, 425, 429})


class Response(NamedTuple):
    """`body` is at most MAX_RESPONSE bytes. `retry_after` is the pause in seconds that the endpoint asks for."""

    status: int
    body: bytes = b""
    retry_after: float | None = None

    @property
    def is_confirmed(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.status < 400

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status >= 500 or self.status in _PASSING

    @property
    def text(self) -> str:
        """The body on one line, without control characters."""
        shown = self.body.decode("utf-8", "replace")
        return "".join(letter if letter.isprintable() else " " for letter in shown).strip()

    @property
    def excerpt(self) -> str:
        """The beginning of the body, fit for an error message."""
        return self._replace(body=self.body[: 4 * EXCERPT]).text[:EXCERPT].strip()


def pause(header: str) -> float | None:
    """Seconds of a `Retry-After`, which is a number or a date; None if it is neither."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            until = parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, min(seconds, MAX_PAUSE)) if math.isfinite(seconds) else None
