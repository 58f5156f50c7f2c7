"""How fast a destination is called: a token bucket, and a circuit breaker that pauses a destination that fails."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds
IDLE_SHARE = (
    5.0  # a pause is so many times as long as the failed calls took: a receiver that hangs occupies few workers
)
BURST_SECONDS = 1.0  # a destination that was idle may get so many seconds' worth at once
DOUBTED_AFTER = 5  # failures in a row: the message that was sent again and again may be the cause
LONGEST_REQUESTED = 3_600.0  # the longest pause that a receiver can ask for


@dataclass(frozen=True, slots=True)
class Pace:
    """The state of one destination. `tokens` are as of `refilled_at`; without a limit they do not matter."""

    failures: int = 0  # in a row
    paused_until: datetime | None = None
    tokens: float = 0.0
    refilled_at: datetime | None = None
    error: str = ""

    @property
    def probing(self) -> bool:
        """Whether the next message is a probe: only one is sent, and the rest follows if it arrives."""
        return self.failures > 0

    @property
    def is_doubted(self) -> bool:
        """Whether another message should probe: the one that was sent may be the cause, not the receiver."""
        return self.failures >= DOUBTED_AFTER

    def pause(self, now: datetime) -> float:
        """Seconds for which nothing may be sent."""
        return max(0.0, (self.paused_until - now).total_seconds()) if self.paused_until else 0.0

    def succeeded(self) -> "Pace":
        return replace(self, failures=0, paused_until=None, error="")

    def refused(self, error: str) -> "Pace":
        """The receiver works and refuses what it gets: no pause, but the destination is shown as failing."""
        return replace(self, failures=0, paused_until=None, error=error)

    def failed(self, now: datetime, error: str, *, requested: float | None = None, took: float = 0.0) -> "Pace":
        """The pause doubles with every failure; a receiver that states one (`Retry-After`) gets at least that."""
        seconds = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self.failures, 30))
        seconds = max(seconds, min(requested or 0.0, LONGEST_REQUESTED), IDLE_SHARE * took)
        until = now + timedelta(seconds=seconds)
        return replace(self, failures=self.failures + 1, paused_until=until, error=error)

    def refilled(self, per_second: float | None, now: datetime) -> "Pace":
        if per_second is None:
            return self
        most = max(1.0, per_second * BURST_SECONDS)
        passed = max(0.0, (now - self.refilled_at).total_seconds()) if self.refilled_at else most / per_second
        return replace(self, tokens=min(most, self.tokens + passed * per_second), refilled_at=now)

    def room(self, per_second: float | None, wanted: int) -> int:
        """How many of so many messages may be sent now."""
        return wanted if per_second is None else min(wanted, int(self.tokens))

    def spent(self, per_second: float | None, sent: int) -> "Pace":
        return self if per_second is None else replace(self, tokens=max(0.0, self.tokens - sent))

    def wait(self, per_second: float | None) -> float:
        """Seconds until the next message may be sent."""
        return 0.0 if per_second is None or self.tokens >= 1.0 else (1.0 - self.tokens) / per_second
