"""Which group of jobs comes next."""

from collections.abc import Collection
from typing import cast

import pytest

from lily.reactions.jobs import rota as module
from lily.reactions.jobs.rota import Rota
from lily.store.postgres.jobs.queue import Group, JobQueue, Ready


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


class Looked:
    """A queue that reports what the test says, and counts how often it is looked at."""

    def __init__(self, *groups: tuple[str, str], next_seconds: float | None = None) -> None:
        self.groups, self.next_seconds, self.looks = [Group(*group) for group in groups], next_seconds, 0

    def ready(self, _tasks: Collection[str], busy: Collection[Group], _limit: int) -> Ready:
        self.looks += 1
        return Ready([group for group in self.groups if group not in busy], self.next_seconds)

    def take(self, rota: Rota) -> Group | None:
        return rota.take(cast("JobQueue", self))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


@pytest.mark.usefixtures("clock")
def test_a_tenant_has_no_more_than_its_share_of_the_slots() -> None:
    rota, queue = Rota(["say"], share=2), Looked(("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"))
    assert [queue.take(rota) for _ in range(4)] == [("a", "1"), ("a", "2"), ("b", "1"), None]
    rota.give_back(Group("a", "1"), served=True)
    assert queue.take(rota) == ("a", "3")
    assert queue.looks == 1


def test_an_empty_queue_is_looked_at_when_a_job_is_queued_or_due_and_now_and_then(clock: Clock) -> None:
    rota, queue = Rota(["say"], share=2), Looked(next_seconds=1.5)
    assert [queue.take(rota) for _ in range(5)] == [None] * 5
    assert queue.looks == 1
    rota.wake()
    assert (queue.take(rota), queue.looks) == (None, 2)
    clock.now += 1.5
    queue.next_seconds = None
    assert (queue.take(rota), queue.looks) == (None, 3)
    clock.now += module.LOOK_SECONDS
    assert (queue.take(rota), queue.looks) == (None, 4)


def test_a_tenant_that_comes_while_another_has_all_it_may_is_served(clock: Clock) -> None:
    rota, queue = Rota(["say"], share=1), Looked(("a", "1"), ("a", "2"))
    assert [queue.take(rota), queue.take(rota)] == [("a", "1"), None]
    queue.groups.append(Group("b", "1"))
    rota.wake()
    assert queue.take(rota) is None  # the plan is followed for a moment
    clock.now += module.PLAN_SECONDS
    assert queue.take(rota) == ("b", "1")


def test_a_group_that_another_worker_holds_is_left_to_it_for_a_while(clock: Clock) -> None:
    rota, queue = Rota(["say"], share=2), Looked(("a", "1"))
    held = queue.take(rota)
    assert held is not None
    rota.give_back(held, served=False)
    assert queue.take(rota) is None
    clock.now += module.ELSEWHERE_SECONDS
    assert queue.take(rota) == held


def test_a_group_that_was_served_may_have_jobs_left() -> None:
    rota, queue = Rota(["say"], share=2), Looked(("a", "1"))
    served = queue.take(rota)
    assert served is not None
    rota.give_back(served, served=True)
    assert queue.take(rota) == served
