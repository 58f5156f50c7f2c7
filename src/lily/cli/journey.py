"""Shows how an estate travels, lane by lane: how much of it is sent, and how much can be read."""

import time
from collections.abc import Callable, Iterable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lily.bus import topics
from lily.estate import Event, lane_of_body
from lily.model.errors import Transient
from lily.model.lanes import LANES, Lane

LOOK_SECONDS = 1.0  # between two questions for the lag, each of which costs a connection
STALL_SECONDS = 180.0  # longer than a pipeline that crashed takes to come back
NAMES: dict[Lane, str] = {"hot": "structure", "bulk": "columns"}

# By topic, how many events cannot be read yet; None while an engine does not answer.
Lag = Callable[[], dict[str, int] | None]


def bars(*, shown: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    detail = TextColumn("[dim]{task.fields[detail]}")
    return Progress(*columns, detail, console=Console(stderr=True), disable=not shown)


class Journey:
    """Counts by lane: `structure` is also whatever carries a tag, `columns` are the plain columns and fields."""

    def __init__(self, progress: Progress, assets: int, *, waits: bool) -> None:
        self.sent: dict[Lane, int] = dict.fromkeys(LANES, 0)
        self._progress = progress
        self._sending = progress.add_task("sent", total=assets, detail="")
        self._reading = {
            lane: progress.add_task(f"{NAMES[lane]} readable", total=None, detail="") for lane in LANES if waits
        }
        self._looked = 0.0

    def counted(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            self.sent[lane_of_body(event)] += 1
            yield event

    def show_sent(self, rows: int) -> None:
        detail = " · ".join(f"{count:,} {NAMES[lane]}" for lane, count in self.sent.items())
        self._progress.update(self._sending, completed=rows, detail=detail)

    def show_readable(self, behind: dict[str, int]) -> None:
        for lane, bar in self._reading.items():
            sent, topic = self.sent[lane], topics.OF_LANE[lane]
            if topic in behind:
                self._progress.update(bar, total=sent, completed=max(sent - behind[topic], 0))

    def look_now_and_then(self, lag: Lag) -> None:
        """While the estate is still being sent: often enough for the eye, not so often that it slows the sending."""
        if time.monotonic() - self._looked > 2 * LOOK_SECONDS:
            self.show_readable(lag() or {})
            self._looked = time.monotonic()

    def wait(self, lag: Lag) -> None:
        """Until nothing is behind: structure first, then columns. Raises Transient if nothing moves any more."""
        known, moved = dict[str, int](), time.monotonic()
        while True:
            told = lag()
            if told is not None and told != known:
                known, moved = told, time.monotonic()
                self.show_readable(known)
            if known and not any(known.values()):
                return
            if time.monotonic() - moved > STALL_SECONDS:
                raise Transient(f"Nothing was applied for {STALL_SECONDS:.0f} s; the lag is {known}. See: lily status")
            time.sleep(LOOK_SECONDS)
