"""Steps with an estate in which nine of ten assets are columns: structure is readable first, columns soon after."""

import time
from functools import partial
from statistics import median

from lily.bus import topics
from lily.cli.demo.step import DemoContext, Step, StepFailed, StepResult, expect_equal, require
from lily.cli.metadata.ingest_progress import IngestProgress, progress_bars
from lily.client import Lily
from lily.estate import Estate, Event, lane_of_body

ASSETS = 50_000
SEED = 50
TIMEOUT = 240  # seconds: a machine that is busy with other work is slow, not broken
SAMPLES = 12

SENT, STRUCTURE, COLUMNS, COLUMN, CHILDREN, PROMOTION = (
    f"{ASSETS:,} assets, sent to accepted",
    "all their structure, begun to readable",
    "all their columns, begun to readable",
    "one column, read from the lake",
    "the columns of one table, listed",
    "a tag on a plain column, sent to readable",
)


def ingest_large_estate(demo: DemoContext) -> StepResult:
    """Sends the estate and follows the progress of both lanes."""
    estate = Estate(ASSETS, SEED)
    began = time.perf_counter()
    with progress_bars(shown=demo.shows_progress) as bars:
        progress = IngestProgress(bars, ASSETS, lineage=False, wait=True)
        result = demo.lily.ingest_many(
            progress.counted(estate.events()),
            on_progress=lambda so_far: progress.show_assets_sent(so_far.accepted + so_far.rejected),
        )
        sent = time.perf_counter() - began
        expect_equal("the number of accepted assets", (result.accepted, result.rejected), (ASSETS, 0))
        structure, waiting = _wait(demo, progress, topics.ASSETS)
        _expect_structure(demo.lily, estate)
        columns, _ = _wait(demo, progress, topics.ASSETS_BULK)
    demo.measured.update({SENT: [sent], STRUCTURE: [structure - began], COLUMNS: [columns - began]})
    waiting_text = f", while [b]{waiting:,} columns[/] are still in the queue" if waiting else ""
    text = (
        f"All structure of an estate of [b]{ASSETS:,} assets[/] can be read{waiting_text}; everything after "
        f"{columns - began:.1f} s"
    )
    return StepResult(text, structure - began)


def read_columns(demo: DemoContext) -> StepResult:
    """Columns that are not in PostgreSQL can be read like any other asset."""
    plain = [event for event in Estate(ASSETS, SEED).events() if lane_of_body(event) == "bulk"]
    chosen = plain[:: len(plain) // SAMPLES]
    for event in chosen:
        asset, _ = demo.timed(COLUMN, partial(demo.lily.get, _name(event)))
        expect_equal("the parent of a column", asset.attributes["parent"], event["attributes"]["parent"])
        expect_equal("its name", asset.attributes["name"], event["attributes"]["name"])
    parent = chosen[-1]["attributes"]["parent"]
    listed, _ = demo.timed(CHILDREN, lambda: list(demo.lily.find(parent=parent)))
    sent = {_name(event) for event in Estate(ASSETS, SEED).events() if event["attributes"].get("parent") == parent}
    expect_equal(f"the children of {parent}", {asset.qualified_name for asset in listed}, sent)
    return StepResult("A column that is only in the lake is read like any other asset", median(demo.measured[COLUMN]))


def promote_column(demo: DemoContext) -> StepResult:
    event = next(event for event in Estate(ASSETS, SEED).events() if lane_of_body(event) == "bulk")
    _, seconds = demo.timed(PROMOTION, lambda: demo.lily.add_tag(_name(event), "PII", wait=30))
    asset = demo.lily.get(_name(event))
    expect_equal("the effective tags", asset.tags.effective, ["PII"])
    expect_equal("its parent, which was only in the lake", asset.attributes["parent"], event["attributes"]["parent"])
    text = f"A PII tag promotes [b]{_name(event)}[/]: the tag shows at once, with the attributes from the lake"
    return StepResult(text, seconds)


LARGE_ESTATE = (
    Step("ingest a large estate", ingest_large_estate),
    Step("read columns", read_columns),
    Step("promote a column", promote_column),
)


def _wait(demo: DemoContext, progress: IngestProgress, topic: str) -> tuple[float, int]:
    """Returns the time when all events of the topic could be read, and the lag of the bulk lane at that time."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        lag = demo.read_lag()
        if lag is not None:
            progress.show_readable(lag)
            if not lag[topic]:
                return time.perf_counter(), lag[topics.ASSETS_BULK]
        time.sleep(0.2)
    raise StepFailed(f"not all events of {topic} could be read within {TIMEOUT} seconds")


def _expect_structure(lily: Lily, estate: Estate) -> None:
    hot = [event for event in estate.events() if lane_of_body(event) == "hot"]
    found = lily.batch_get([_name(event) for event in hot[:: len(hot) // SAMPLES]])
    require(that=not found.missing, failure=f"these tables cannot be read: {found.missing}")


def _name(event: Event) -> str:
    return str(event["attributes"]["qualified_name"])
