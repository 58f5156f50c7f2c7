"""The lag of each topic, and waiting until all of it is applied."""

from collections.abc import Iterator

import pytest

from lily.bus import topics
from lily.bus.offsets import lag_by_topic
from lily.cli.metadata import ingest_progress
from lily.cli.metadata.ingest_progress import IngestProgress, progress_bars
from lily.estate import Estate
from lily.model.errors import Transient

HOT, BULK, LINEAGE = topics.ASSETS, topics.ASSETS_BULK, topics.LINEAGE_INTAKE


@pytest.fixture
def progress(monkeypatch: pytest.MonkeyPatch) -> Iterator[IngestProgress]:
    monkeypatch.setattr(ingest_progress, "POLL_SECONDS", 0.001)
    monkeypatch.setattr(ingest_progress, "STALL_SECONDS", 0.1)
    with progress_bars(shown=False) as bars:
        yield IngestProgress(bars, 1_000, lineage=True, wait=True)


def test_lag_is_counted_per_topic() -> None:
    ends = {(HOT, 0): 10, (HOT, 1): 5, (BULK, 0): 100, (BULK, 1): 0}
    assert lag_by_topic(ends, {(HOT, 0): 10, (HOT, 1): 3, (BULK, 0): 1}) == {HOT: 2, BULK: 99}


def test_an_end_that_was_read_too_early_does_not_make_the_lag_negative() -> None:
    assert lag_by_topic({(HOT, 0): 10, (HOT, 1): 10}, {(HOT, 0): 15, (HOT, 1): 9}) == {HOT: 1}


def test_structure_columns_and_lineage_are_counted_apart(progress: IngestProgress) -> None:
    events = list(progress.counted(Estate(1_000).events()))
    progress.add_edges(30)
    progress.add_edges(12)
    assert events == list(Estate(1_000).events())
    assert progress.sent[HOT] + progress.sent[BULK] == 1_000
    assert progress.sent[BULK] > 3 * progress.sent[HOT]
    assert progress.sent[LINEAGE] == 42


def test_waiting_ends_when_no_topic_is_behind(progress: IngestProgress) -> None:
    lags = iter(
        [
            {HOT: 9, BULK: 90, LINEAGE: 5},
            None,
            {HOT: 0, BULK: 90, LINEAGE: 5},
            {HOT: 0, BULK: 0, LINEAGE: 5},
            {HOT: 0, BULK: 0, LINEAGE: 0},
        ]
    )
    progress.wait(lambda: next(lags))
    assert list(lags) == []


def test_a_stalled_pipeline_is_reported_with_the_next_step(progress: IngestProgress) -> None:
    with pytest.raises(Transient, match="lily status"):
        progress.wait(lambda: {HOT: 0, BULK: 7, LINEAGE: 0})
