"""Workers are killed in mid-delivery, and receivers fail: nothing is lost, and no receiver delays another."""

import os
import random
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.faults.enforced_shop import until
from tests.faults.notified_tenant import NotifiedTenant, notified_tenant
from tests.faults.own_stack import OwnStack
from tests.notification_receiver import Receiver, notification_receiver

pytestmark = pytest.mark.faults

COUNT = 2_000
KILLS = 5
AT_ONCE = 16 * 4  # messages that four slots of a worker can have under way


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with notification_receiver() as found:
        yield found


@pytest.fixture
def tenant(engines: OwnStack, receiver: Receiver, tmp_path: Path) -> Iterator[NotifiedTenant]:
    with notified_tenant(engines, receiver, tmp_path) as found:
        yield found


def has_taken(receiver: Receiver, count: int) -> bool:
    return len(receiver.taken) >= count


def all_delivered(tenant: NotifiedTenant, count: int) -> bool:
    return tenant.states() == {"delivered": count} and tenant.queued() == 0


def test_nothing_is_lost_when_workers_are_killed_in_mid_delivery(tenant: NotifiedTenant, receiver: Receiver) -> None:
    tenant.subscribe("first", "second")
    expected = set(tenant.announce(COUNT))
    assert len(expected) == COUNT
    for kill in range(KILLS):
        wanted = (kill + 1) * COUNT * 2 // (KILLS + 2)
        with tenant.workers() as (worker,):
            until(partial(has_taken, receiver, wanted), tenant.states)
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
    with tenant.workers(2):
        until(lambda: all_delivered(tenant, 2 * COUNT), tenant.states)
    for destination in ("first", "second"):
        arrived = [one.key for one in receiver.taken if one.path == destination]
        assert set(arrived) == expected
    # What was under way when a worker died is sent again, with the same id, and nothing else.
    assert len(receiver.taken) <= 2 * COUNT + KILLS * AT_ONCE


def test_a_receiver_that_fails_delays_no_other_and_is_made_up_for(tenant: NotifiedTenant, receiver: Receiver) -> None:
    tenant.subscribe("works", "fails")
    receiver.answer = lambda one: (500 if one.path == "fails" else 204, {})
    expected = set(tenant.announce(COUNT))
    with tenant.workers():
        until(lambda: sum(one.path == "works" for one in receiver.taken) >= COUNT, tenant.states)
        assert not [one for one in receiver.taken if one.path == "fails"]
        receiver.work()
        until(lambda: all_delivered(tenant, 2 * COUNT), tenant.states)
    assert {one.key for one in receiver.taken if one.path == "fails"} == expected
    assert sum(one.path == "fails" for one in receiver.received) <= 2 * COUNT


def test_connections_that_are_lost_at_any_moment_lose_nothing(tenant: NotifiedTenant, receiver: Receiver) -> None:
    tenant.subscribe("first")
    expected = set(tenant.announce(COUNT // 4))
    chance = random.Random(7)
    ended = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lily-jobs'"
    with tenant.workers():
        for _ in range(10):
            wanted = len(receiver.taken) + chance.randint(1, 30)
            until(partial(has_taken, receiver, min(wanted, len(expected))), tenant.states)
            tenant.owner.execute(ended)
        until(lambda: all_delivered(tenant, len(expected)), tenant.states)
    assert {one.key for one in receiver.taken} == expected
