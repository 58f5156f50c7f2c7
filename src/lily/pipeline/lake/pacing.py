"""When the lake's next batch begins: after the usual pause, or sooner once no more columns arrive.

A batch has a price of its own: two commits, and small files that are compacted later. So while columns arrive they are
collected. Once the last of them are in the log nobody gains from waiting for more, and somebody may wait for these:
plain columns are readable only from the lake. What the hot lane states is readable already, so it shortens no pause.
"""

from collections.abc import Mapping

from lily.model.records import Partition

SILENT = 1.0  # seconds without a new column, after which no more are expected
LEAST = 5.0  # seconds between the beginnings of two batches, however often the columns stop; at least half the pause


class Pacing:
    """Of the pause after one batch."""

    def __init__(self, began: float, apart: float) -> None:
        """When the batch began, and the usual seconds from then on to the next one."""
        self._soonest, self._latest = began + max(LEAST, apart / 2), began + apart
        self._ends: Mapping[Partition, int] = {}
        self._moved = began

    def is_over(self, now: float, ends: Mapping[Partition, int], written: Mapping[Partition, int]) -> bool:
        """`ends` of the columns' topic now, and how much of the log the lake has."""
        if ends != self._ends:
            self._ends, self._moved = ends, now
        if now >= self._latest:
            return True
        has_more = any(end > written.get(partition, 0) for partition, end in ends.items())
        return has_more and now >= self._soonest and now - self._moved >= SILENT
