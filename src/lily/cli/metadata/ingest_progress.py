"""Shows how an estate is sent and becomes readable: structure and columns, by lane, and lineage."""

import time
from collections.abc import Callable, Iterable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lily.bus import topics
from lily.estate import Event, lane_of_body
from lily.model.errors import Transient
from lily.model.lanes import LANES

POLL_SECONDS = 1.0  # between two reads of the lag, each of which opens a connection
STALL_SECONDS = 180.0  # longer than a crashed pipeline takes to restart
# What is counted, by the topic that transports it.
KINDS = {topics.ASSETS: "structure", topics.ASSETS_BULK: "columns", topics.LINEAGE_INTAKE: "lineage"}

# Returns, by topic, how many events cannot be read yet; None while an engine does not respond.
ReadLag = Callable[[], dict[str, int] | None]


def progress_bars(*, shown: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    detail = TextColumn("[dim]{task.fields[detail]}")
    return Progress(*columns, detail, console=Console(stderr=True), disable=not shown)


class IngestProgress:
    """Counts what is sent, by topic. Everything with a tag is `structure`; `columns` are plain columns and fields."""

    def __init__(self, bars: Progress, assets: int, *, lineage: bool, wait: bool) -> None:
        topics_used = [topic for topic in KINDS if lineage or topic != topics.LINEAGE_INTAKE]
        self.sent: dict[str, int] = dict.fromkeys(topics_used, 0)
        self._bars = bars
        self._assets = bars.add_task("assets sent", total=assets, detail="")
        self._edges = bars.add_task("lineage sent", total=None, detail="", visible=lineage)
        self._readable = {
            topic: bars.add_task(f"{KINDS[topic]} readable", total=None, detail="") for topic in topics_used if wait
        }
        self._polled = 0.0

    def counted(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yields the events unchanged and counts them."""
        for event in events:
            self.sent[topics.OF_LANE[lane_of_body(event)]] += 1
            yield event

    def show_assets_sent(self, rows: int) -> None:
        lanes = [topics.OF_LANE[lane] for lane in LANES]
        detail = " · ".join(f"{self.sent[topic]:,} {KINDS[topic]}" for topic in lanes)
        self._bars.update(self._assets, completed=rows, detail=detail)

    def add_edges(self, edges: int) -> None:
        self.sent[topics.LINEAGE_INTAKE] += edges
        self._bars.update(self._edges, completed=self.sent[topics.LINEAGE_INTAKE])

    def finish_edges(self) -> None:
        """The number of edges is known only once the last one is generated."""
        self._bars.update(self._edges, total=self.sent[topics.LINEAGE_INTAKE])

    def show_readable(self, lag: dict[str, int]) -> None:
        for topic, bar in self._readable.items():
            if topic in lag:
                sent = self.sent[topic]
                self._bars.update(bar, total=sent, completed=max(sent - lag[topic], 0))

    def poll(self, read_lag: ReadLag) -> None:
        """Updates the bars while the estate is being sent, rarely enough not to slow it down."""
        if time.monotonic() - self._polled > 2 * POLL_SECONDS:
            self.show_readable(read_lag() or {})
            self._polled = time.monotonic()

    def wait(self, read_lag: ReadLag) -> None:
        """Returns when every lag is zero. Raises Transient if no lag changes any more."""
        known, changed_at = dict[str, int](), time.monotonic()
        while True:
            lag = read_lag()
            if lag is not None and lag != known:
                known, changed_at = lag, time.monotonic()
                self.show_readable(known)
            if known and not any(known.values()):
                return
            if time.monotonic() - changed_at > STALL_SECONDS:
                raise Transient(
                    f"The pipeline applied nothing for {STALL_SECONDS:.0f} s; the lag is {known}. Check `lily status`."
                )
            time.sleep(POLL_SECONDS)
