"""When the lake's next batch begins."""

from lily.bus.topics import ASSETS_BULK
from lily.pipeline.lake.pacing import LEAST, SILENT, Pacing

APART, STEP = 10.0, 0.25
WRITTEN = {(ASSETS_BULK, 0): 100, (ASSETS_BULK, 1): 100}


def pause(arrivals: list[float], apart: float = APART, began: float = 50.0) -> float:
    """Seconds from the beginning of a batch to that of the next one. Columns arrive so many seconds after the first."""
    pacing, now = Pacing(began, apart), began
    while True:
        arrived = sum(began + after <= now for after in arrivals)
        if pacing.is_over(now, {**WRITTEN, (ASSETS_BULK, 1): 100 + arrived}, WRITTEN):
            return now - began
        now += STEP


def test_columns_that_keep_arriving_are_collected() -> None:
    assert pause([number * SILENT / 2 for number in range(100)]) == APART


def test_the_last_columns_do_not_wait_for_more() -> None:
    assert pause([LEAST, LEAST + SILENT / 2]) == LEAST + SILENT / 2 + SILENT


def test_two_batches_are_never_too_close() -> None:
    assert pause([0.5]) == LEAST


def test_two_batches_are_half_of_a_longer_pause_apart() -> None:
    assert pause([0.5], apart=60.0) == 30.0


def test_a_shorter_pause_stays_as_short() -> None:
    assert pause([0.0], apart=2.0) == 2.0
    assert pause([], apart=2.0) == 2.0


def test_without_new_columns_the_pause_is_the_usual_one() -> None:
    assert pause([]) == APART


def test_what_arrived_during_the_batch_counts() -> None:
    pacing = Pacing(0.0, APART)
    ends = {(ASSETS_BULK, 0): 101, (ASSETS_BULK, 1): 100}
    assert not pacing.is_over(LEAST + 1, ends, WRITTEN), "it may still be arriving"
    assert pacing.is_over(LEAST + 1 + SILENT, ends, WRITTEN)


def test_columns_of_any_partition_count() -> None:
    pacing = Pacing(0.0, APART)
    ends = {(ASSETS_BULK, 0): 100, (ASSETS_BULK, 2): 1}
    assert not pacing.is_over(LEAST, ends, WRITTEN)
    assert pacing.is_over(LEAST + SILENT, ends, WRITTEN)
