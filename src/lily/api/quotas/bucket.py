"""A token bucket: a rate, and what may be saved up for a burst."""


class Bucket:
    """What is taken may exceed what is left: a body is counted once its size is known. Then nothing is left until the
    debt is paid, so the average stays at the rate. A rate of 0 has no limit."""

    __slots__ = ("_at", "_left", "rate", "room")

    def __init__(self, rate: float, burst_seconds: float, now: float) -> None:
        self.rate = rate
        self.room = rate * burst_seconds
        self._left = self.room
        self._at = now

    def has_any(self, now: float) -> bool:
        if not self.rate:
            return True
        left = self._left + (now - self._at) * self.rate
        self._left = min(self.room, left)
        self._at = now
        return self._left > 0

    def take(self, amount: float) -> None:
        """Call `has_any` before, with the time."""
        if self.rate:
            self._left -= amount

    def seconds(self, now: float) -> float:
        """Until something is left."""
        return 0.0 if self.has_any(now) else -self._left / self.rate

    def change(self, rate: float, burst_seconds: float) -> None:
        """Another rate from now on. A debt is kept, so that a change is no way around it."""
        had_limit = bool(self.rate)
        self.rate, self.room = rate, rate * burst_seconds
        self._left = min(self._left, self.room) if had_limit else self.room
