"""How far each lane is behind, and waiting until neither is."""

from collections.abc import Iterator

import pytest

from lily.bus import topics
from lily.bus.offsets import behind
from lily.cli import journey as journeys
from lily.cli.journey import Journey, bars
from lily.estate import Estate
from lily.model.errors import Transient

HOT, BULK = topics.ASSETS, topics.ASSETS_BULK


@pytest.fixture
def journey(monkeypatch: pytest.MonkeyPatch) -> Iterator[Journey]:
    monkeypatch.setattr(journeys, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(journeys, "STALL_SECONDS", 0.1)
    with bars(shown=False) as progress:
        yield Journey(progress, 1_000, waits=True)


def test_lag_is_told_topic_by_topic() -> None:
    ends = {(HOT, 0): 10, (HOT, 1): 5, (BULK, 0): 100, (BULK, 1): 0}
    assert behind(ends, {(HOT, 0): 10, (HOT, 1): 3, (BULK, 0): 1}) == {HOT: 2, BULK: 99}


def test_an_end_that_was_read_too_early_is_no_negative_lag() -> None:
    assert behind({(HOT, 0): 10, (HOT, 1): 10}, {(HOT, 0): 15, (HOT, 1): 9}) == {HOT: 1}


def test_a_journey_counts_structure_and_columns_apart(journey: Journey) -> None:
    events = list(journey.counted(Estate(1_000).events()))
    assert events == list(Estate(1_000).events())
    assert sum(journey.sent.values()) == 1_000
    assert journey.sent["bulk"] > 3 * journey.sent["hot"]


def test_a_journey_ends_when_neither_lane_is_behind(journey: Journey) -> None:
    told = iter([{HOT: 9, BULK: 90}, None, {HOT: 0, BULK: 90}, {HOT: 0, BULK: 1}, {HOT: 0, BULK: 0}])
    journey.wait(lambda: next(told))
    assert list(told) == []


def test_a_pipeline_that_stands_still_is_reported_with_the_next_step(journey: Journey) -> None:
    with pytest.raises(Transient, match="lily status"):
        journey.wait(lambda: {HOT: 0, BULK: 7})
