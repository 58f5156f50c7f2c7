"""Retries: connection errors, 429, 502, 503 and 504, with growing pauses, limited in number and in time."""

import random
import time
from dataclasses import dataclass

from lily.client.errors import Unavailable


@dataclass(frozen=True, slots=True)
class Retry:
    """At most `attempts` attempts; none starts more than `seconds` after the first."""

    attempts: int = 8
    seconds: float = 60.0  # the stack restarts a killed part in less
    first_pause: float = 0.1
    longest_pause: float = 10.0

    def begin(self) -> "Attempts":
        return Attempts(self)


NEVER = Retry(attempts=1)


class Attempts:
    """The attempts to send one call."""

    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._failed = 0
        self._deadline = time.monotonic() + retry.seconds

    def pause_after(self, failure: Unavailable) -> float:
        """Seconds to wait before the next attempt; raises the failure if no attempt is left.

        The pause doubles each time. A random part (up to half) is taken off, so that clients do not all return at the
        same moment when a server comes back. A Retry-After of the server is added to it.
        """
        self._failed += 1
        pause = min(self._retry.first_pause * 2.0 ** (self._failed - 1), self._retry.longest_pause)
        pause *= random.uniform(0.5, 1.0)  # noqa: S311 (spreads load, guards nothing)
        if failure.retry_after is not None:
            pause += failure.retry_after
        if self._failed >= self._retry.attempts or time.monotonic() + pause > self._deadline:
            raise failure
        return pause
