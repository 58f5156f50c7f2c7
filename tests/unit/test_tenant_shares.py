"""A lock that tenants take in turns, also when those that wait for it give up."""

import asyncio
from collections.abc import Sequence

import pytest

from lily.api.tenant_shares import TenantShares, TenantTurns
from lily.model.errors import Transient


def order(tenants: Sequence[str], cancelled: Sequence[int] = ()) -> list[int]:
    """The numbers of the callers, in the order of their turns; the first one holds the lock while the others come."""

    async def run() -> list[int]:
        turns, served, release = TenantTurns(), list[int](), asyncio.Event()

        async def caller(number: int, tenant: str) -> None:
            async with turns.turn(tenant):
                served.append(number)
                await (release.wait() if number == 0 else asyncio.sleep(0))

        tasks = [asyncio.create_task(caller(number, tenant)) for number, tenant in enumerate(tenants)]
        await asyncio.sleep(0)
        for number in cancelled:
            tasks[number].cancel()
        release.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(10), turns.turn("last"):  # it is free again
            return served

    return asyncio.run(run())


def test_the_callers_of_one_tenant_are_served_in_order() -> None:
    assert order(["a", "a", "a"]) == [0, 1, 2]


def test_each_tenant_is_served_before_one_is_served_again() -> None:
    assert order(["a", "a", "a", "a", "b", "c", "c"]) == [0, 1, 4, 5, 2, 6, 3]


@pytest.mark.parametrize("cancelled", [[1], [1, 2], [4], [1, 2, 3, 4]])
def test_a_caller_that_gives_up_is_left_out(cancelled: list[int]) -> None:
    assert sorted(order(["a", "a", "a", "b", "b"], cancelled)) == sorted({0, 1, 2, 3, 4} - set(cancelled))


def test_a_caller_that_gives_up_at_its_turn_passes_it_on() -> None:
    async def take(turns: TenantTurns) -> None:
        async with turns.turn("a"):
            pass

    async def run() -> bool:
        turns = TenantTurns()
        async with turns.turn("a"):
            waiting = asyncio.create_task(take(turns))
            await asyncio.sleep(0)
        waiting.cancel()  # the lock was passed on to it, but it has not run since
        await asyncio.gather(waiting, return_exceptions=True)
        async with asyncio.timeout(10), turns.turn("b"):
            return True

    assert asyncio.run(run())


def test_a_tenant_does_not_take_the_places_of_others() -> None:
    async def run() -> list[str]:
        turns, served, release = TenantTurns(places=2, share=1), list[str](), asyncio.Event()

        async def caller(tenant: str) -> None:
            async with turns.turn(tenant):
                served.append(tenant)
                await release.wait()

        tasks = [asyncio.create_task(caller(tenant)) for tenant in ("a", "a", "b", "c")]
        await asyncio.sleep(0)
        while_taken = list(served)
        release.set()
        await asyncio.gather(*tasks)
        return [*while_taken, "|", *served[len(while_taken) :]]

    assert asyncio.run(run()) == ["a", "b", "|", "a", "c"]


def test_a_share_is_free_again_after_its_use() -> None:
    shares = TenantShares(1, lambda share: Transient(f"at most {share}"))
    for _ in range(2):
        with shares.one("a"), shares.one("b"), pytest.raises(Transient, match="at most 1"), shares.one("a"):
            pass
