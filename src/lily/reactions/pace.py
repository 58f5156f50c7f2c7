"""How often a resident of the worker looks for work."""

import threading
import time

# Most of what a small turn costs does not depend on its size: transactions, locks, offsets, round trips. A turn per
# event would occupy two cores at 500 events a second, and a reader of the outcome does not notice 50 ms.
TURN_SECONDS = 0.05


class Pace:
    """Lets the next turn begin no earlier than `seconds` after the last one did, so that what arrives meanwhile is
    handled together. After a pause of that length a turn begins at once."""

    def __init__(self, stop: threading.Event, seconds: float = TURN_SECONDS) -> None:
        self._stop, self._seconds, self._next = stop, seconds, 0.0

    def begun(self) -> None:
        """A turn begins."""
        self._next = time.monotonic() + self._seconds

    def rest(self) -> None:
        """Returns when the next turn may begin, or when the worker stops. Leave it out while there is a backlog."""
        if (seconds := self._next - time.monotonic()) > 0:
            self._stop.wait(seconds)
