"""How far apart the hot lane's micro-batches begin."""

import pytest

from lily.pipeline.hot.pacing import BUSY, Pacing

QUIET, APART, FULL = 0.1, 0.4, 40_000


def begins(rate: float, takes: float, batches: int = 20, full: int = FULL) -> list[float]:
    """When batches begin at a steady rate of events, if each takes so many seconds."""
    pacing, now, read, found = Pacing(QUIET, APART, full), 0.0, 0.0, list[float]()
    for _ in range(batches):
        now = max(now, found[-1] + QUIET if found else 0.0)  # the trigger
        found.append(now)
        events = min(int(rate * now - read), full)
        read += events
        now += takes + pacing.pause(events, now, now + takes)
    return found


def apart(rate: float, takes: float, full: int = FULL) -> float:
    found = begins(rate, takes, full=full)
    return found[-1] - found[-2]


@pytest.mark.parametrize("rate", [BUSY, 2 * BUSY])
def test_under_load_batches_begin_as_far_apart_as_they_may(rate: float) -> None:
    assert apart(rate, 0.1) == pytest.approx(APART, rel=0.01)


def test_a_few_events_are_not_kept_waiting() -> None:
    assert apart(10, 0.02) == pytest.approx(QUIET, abs=0.002)


def test_the_pause_grows_with_the_rate() -> None:
    assert apart(BUSY / 2, 0.02) == pytest.approx((QUIET + APART) / 2, rel=0.02)


def test_a_burst_after_a_long_rest_is_followed_by_no_pause() -> None:
    pacing = Pacing(QUIET, APART, FULL)
    pacing.pause(1, 0.0, 0.05)
    assert pacing.pause(20_000, 60.0, 60.3) == 0


def test_the_first_batch_is_followed_by_no_pause() -> None:
    assert Pacing(QUIET, APART, FULL).pause(30_000, 5.0, 5.1) == 0


def test_a_batch_that_takes_longer_is_followed_by_no_pause() -> None:
    assert apart(2 * BUSY, 0.7) == pytest.approx(0.7)


def test_a_backlog_is_not_slowed_down() -> None:
    assert apart(1e6, 0.05, full=100) == pytest.approx(QUIET)


def test_a_pause_for_load_that_is_shorter_than_the_usual_one_has_no_effect() -> None:
    pacing = Pacing(0.5, 0.1, FULL)
    pacing.pause(5_000, 0.0, 0.1)
    assert pacing.pause(5_000, 0.5, 0.6) == pytest.approx(0.4)
