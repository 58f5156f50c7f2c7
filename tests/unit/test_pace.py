"""Turns of the worker's residents: the first begins at once, the next ones when it is time."""

import threading

import pytest

from lily.reactions import pace as module
from lily.reactions.pace import Pace


class Time(threading.Event):
    """A clock that goes on only while someone waits for it; also the event that stops the worker."""

    now = 100.0
    rests: list[float]

    def __init__(self) -> None:
        super().__init__()
        self.rests = []

    def monotonic(self) -> float:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        self.rests.append(round(timeout or 0.0, 6))
        self.now += timeout or 0.0
        return self.is_set()


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(module, "time", time)
    return time


def test_the_first_turn_begins_at_once(time: Time) -> None:
    Pace(time, 0.05).rest()
    assert time.rests == []


def test_the_next_turn_waits_for_what_is_left(time: Time) -> None:
    pace = Pace(time, 0.05)
    pace.begun()
    time.now += 0.02  # what the turn took
    pace.rest()
    assert time.rests == [0.03]


def test_a_turn_that_took_longer_or_came_long_ago_delays_nothing(time: Time) -> None:
    pace = Pace(time, 0.05)
    pace.begun()
    time.now += 0.05
    pace.rest()
    assert time.rests == []


def test_a_rest_ends_when_the_worker_stops() -> None:
    stop = threading.Event()
    pace = Pace(stop, 3_600)
    pace.begun()
    stop.set()
    pace.rest()
