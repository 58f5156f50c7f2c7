"""A call ends when its time is over, whatever the other calls do."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from lily.outbound.deadlines import Deadline

PATIENCE_SECONDS = 30.0


@dataclass
class Call:
    sock: socket.socket | None
    other: socket.socket


@pytest.fixture
def calls() -> Iterator[list[Call]]:
    made = [Call(*socket.socketpair()) for _ in range(3)]
    yield made
    for call in made:
        for one in (call.sock, call.other):
            if one is not None:
                one.close()


def is_ended(call: Call, seconds: float = PATIENCE_SECONDS) -> bool:
    """Whether the other side is hung up on within the time."""
    call.other.settimeout(seconds)
    try:
        return call.other.recv(1) == b""
    except TimeoutError:
        return False


def test_a_shorter_deadline_that_comes_later_ends_first(calls: list[Call]) -> None:
    with ExitStack() as stack:
        long = stack.enter_context(Deadline(calls[0], 3_600))
        short = stack.enter_context(Deadline(calls[1], 0.05))
        shortest = stack.enter_context(Deadline(calls[2], 0.01))
        assert is_ended(calls[1])
        assert is_ended(calls[2])
        assert (long.is_over, short.is_over, shortest.is_over) == (False, True, True)
        assert not is_ended(calls[0], 0.01)


def test_a_call_that_ended_in_time_keeps_its_connection(calls: list[Call]) -> None:
    with Deadline(calls[0], 0.02) as deadline:
        pass
    with Deadline(calls[1], 0.1):
        assert is_ended(calls[1])
    assert not deadline.is_over
    assert not is_ended(calls[0], 0.01)


def test_a_call_without_a_connection_yet_is_over_all_the_same(calls: list[Call]) -> None:
    waiting = Call(None, calls[0].other)
    with Deadline(waiting, 0.01) as deadline, Deadline(calls[1], 0.05):
        assert is_ended(calls[1])
        assert deadline.is_over
