"""Background tasks of the API end when they are cancelled, at whatever moment that happens."""

import asyncio
from collections.abc import Collection

import pytest

from lily.api import background
from lily.api.receipts.coalesced_wait import CoalescedWait

PATIENCE_SECONDS = 20.0


def test_a_cancellation_that_gets_lost_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "AGAIN_SECONDS", 0.01)
    lost: list[int] = []

    async def loses(cancellations: int) -> None:
        while len(lost) < cancellations:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                lost.append(len(lost))
        await asyncio.Event().wait()

    async def story() -> None:
        task, other = asyncio.create_task(loses(3)), asyncio.create_task(asyncio.Event().wait())
        await asyncio.sleep(0)
        await asyncio.wait_for(background.end(task, other), PATIENCE_SECONDS)
        assert task.cancelled()
        assert other.cancelled()

    asyncio.run(story())
    assert len(lost) == 3


def test_a_task_that_has_failed_does_not_fail_the_end() -> None:
    async def fails() -> None:
        raise ValueError("expected")

    async def story() -> None:
        task = asyncio.create_task(fails())
        await asyncio.sleep(0)
        await background.end(task)

    asyncio.run(story())


@pytest.mark.parametrize("steps", range(6))
def test_a_wait_ends_if_it_is_cancelled_at_the_moment_of_a_notification(steps: int) -> None:
    async def read(_: Collection[str]) -> dict[str, int]:
        return {}

    async def story() -> None:
        wait: CoalescedWait[str, int] = CoalescedWait(read)
        request = asyncio.create_task(wait.wait("a", PATIENCE_SECONDS))
        loop = asyncio.create_task(wait.run())
        for _ in range(10):
            await asyncio.sleep(0)  # it has read, and waits for the next notification
        wait.notify()
        for _ in range(steps):
            await asyncio.sleep(0)
        loop.cancel()
        await asyncio.wait([loop], timeout=PATIENCE_SECONDS)
        assert loop.cancelled()
        request.cancel()

    asyncio.run(story())
