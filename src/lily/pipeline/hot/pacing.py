"""How often a micro-batch begins: the more events arrive, the longer they are collected.

A micro-batch has a price of its own, whatever its size: Spark plans it, a Python process is woken for each of its
tasks, and PostgreSQL commits. With several batches a second at 10,000 events/s that price is a large part of what an
event costs. When little arrives nobody waits for more of it.
"""

BUSY = 5_000.0  # events a second, from which on batches are as far apart as they get


class Pacing:
    def __init__(self, quiet: float, busy: float, full: int) -> None:
        """Seconds from the beginning of one batch to that of the next, and the most events of a batch."""
        self._quiet, self._busy, self._full = quiet, max(busy, quiet), full
        self._began = float("-inf")  # the batch before

    def pause(self, events: int, began: float, ended: float) -> float:
        """Seconds to wait after a batch of so many events; none if the log has more than a batch of them."""
        collected, self._began = began - self._began, began
        if events >= self._full:
            return 0.0
        rate = events / max(collected, self._quiet, 0.001)
        apart = self._quiet + (self._busy - self._quiet) * min(rate / BUSY, 1.0)
        return max(apart - (ended - began), 0.0) if rate >= 1 else 0.0
