"""The second chapter: an estate in which nine of ten assets are columns. Structure first, columns soon after."""

import time
from functools import partial
from statistics import median

from lily.bus import topics
from lily.cli.demo.scene import Scene, Step, StepFailed, Told, expect_equal, insist
from lily.cli.journey import Journey, bars
from lily.client import Lily
from lily.estate import Estate, Event, lane_of_body

ASSETS = 50_000
SEED = 50
PATIENCE = 240  # seconds: a machine that is busy with other things is slow, not wrong
SAMPLES = 12

SENT, STRUCTURE, COLUMNS, COLUMN, CHILDREN, PROMOTION = (
    f"{ASSETS:,} assets, sent to accepted",
    "all their structure, begun to readable",
    "all their columns, begun to readable",
    "one column, read from the lake",
    "the columns of one table, listed",
    "a tag on a plain column, sent to shown",
)


def state_large_estate(scene: Scene) -> Told:
    """Sends it, and looks meanwhile how far each lane is."""
    estate = Estate(ASSETS, SEED)
    began = time.perf_counter()
    with bars(shown=scene.shows_progress) as progress:
        journey = Journey(progress, ASSETS, waits=True)
        result = scene.lily.ingest_many(
            journey.counted(estate.events()),
            on_progress=lambda so_far: journey.show_sent(so_far.accepted + so_far.rejected),
        )
        sent = time.perf_counter() - began
        expect_equal("the number of accepted assets", (result.accepted, result.rejected), (ASSETS, 0))
        structure, waiting = _wait(scene, journey, topics.ASSETS)
        _expect_structure(scene.lily, estate)
        columns, _ = _wait(scene, journey, topics.ASSETS_BULK)
    scene.measured.update({SENT: [sent], STRUCTURE: [structure - began], COLUMNS: [columns - began]})
    still = f", while [b]{waiting:,} columns[/] still poured in" if waiting else ""
    told = f"Of an estate of [b]{ASSETS:,} assets[/] all structure can be read{still}; {columns - began:.1f} s for all"
    return Told(told, structure - began)


def read_columns(scene: Scene) -> Told:
    """Columns that are in no table of PostgreSQL read like any other asset."""
    plain = [event for event in Estate(ASSETS, SEED).events() if lane_of_body(event) == "bulk"]
    chosen = plain[:: len(plain) // SAMPLES]
    for event in chosen:
        asset, _ = scene.timed(COLUMN, partial(scene.lily.get, _name(event)))
        expect_equal("the parent of a column", asset.attributes["parent"], event["attributes"]["parent"])
        expect_equal("its name", asset.attributes["name"], event["attributes"]["name"])
    parent = chosen[-1]["attributes"]["parent"]
    listed, _ = scene.timed(CHILDREN, lambda: list(scene.lily.find(parent=parent)))
    stated = {_name(event) for event in Estate(ASSETS, SEED).events() if event["attributes"].get("parent") == parent}
    expect_equal(f"what lies below {parent}", {asset.qualified_name for asset in listed}, stated)
    return Told("A column that lives in the lake alone is read like any other asset", median(scene.measured[COLUMN]))


def promote_column(scene: Scene) -> Told:
    event = next(event for event in Estate(ASSETS, SEED).events() if lane_of_body(event) == "bulk")
    _, seconds = scene.timed(PROMOTION, lambda: scene.lily.add_tag(_name(event), "PII", wait=30))
    asset = scene.lily.get(_name(event))
    expect_equal("the effective tags", asset.tags.effective, ["PII"])
    expect_equal("its parent, which only the lake knew", asset.attributes["parent"], event["attributes"]["parent"])
    return Told(f"Tagged PII, [b]{_name(event)}[/] is promoted: it shows at once, with what the lake knew", seconds)


CHAPTER = (
    Step("state a large estate", state_large_estate),
    Step("read columns", read_columns),
    Step("promote a column", promote_column),
)


def _wait(scene: Scene, journey: Journey, topic: str) -> tuple[float, int]:
    """When everything of one topic could be read, and how much of the bulk lane could not be yet."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        behind = scene.lag()
        if behind is not None:
            journey.show_readable(behind)
            if not behind[topic]:
                return time.perf_counter(), behind[topics.ASSETS_BULK]
        time.sleep(0.2)
    raise StepFailed(f"not all of {topic} was readable within {PATIENCE} seconds")


def _expect_structure(lily: Lily, estate: Estate) -> None:
    hot = [event for event in estate.events() if lane_of_body(event) == "hot"]
    found = lily.batch_get([_name(event) for event in hot[:: len(hot) // SAMPLES]])
    insist(that=not found.missing, otherwise=f"these tables are not readable: {found.missing}")


def _name(event: Event) -> str:
    return str(event["attributes"]["qualified_name"])
