"""A flood of callers without a valid token: what reaches the database, and who still gets in."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import wraps
from typing import Any

import pytest

from lily.api.auth.oidc.errors import InvalidToken
from lily.api.auth.strangers import LOOK_UPS, REFUSED_SECONDS, WAITING, Strangers
from lily.api.http.errors import Declined
from lily.api.metrics import ApiMetrics

HERE, ELSEWHERE = "192.0.2.7", "198.51.100.9"


class Site:
    """A database with one valid token, and a clock that the test moves."""

    def __init__(self, failures: float = 2.0) -> None:
        self.at, self.notified, self.valid = 0.0, True, {"good"}
        self.looked_up: list[str] = []
        self.under_way = self.most_under_way = 0
        self.metrics = ApiMetrics()
        refusals = self.metrics.failed_authentications
        self.strangers = Strangers(failures, lambda: self.notified, refusals, lambda: self.at)

    async def show(self, token: str, address: str | None = HERE) -> str | None:
        async def look_up() -> str | None:
            self.looked_up.append(token)
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            await asyncio.sleep(0)
            self.under_way -= 1
            if token == "forged":
                raise InvalidToken("signature", "not valid")
            return token if token in self.valid else None

        return await self.strangers.look_up(address, token, look_up)

    async def flood(self, number: int, address: str = HERE) -> int:
        """How many of so many different tokens were looked up."""
        before = len(self.looked_up)
        for one in range(number):
            with suppress(Declined):
                await self.show(f"{address}-{self.at}-{one}", address)
        return len(self.looked_up) - before


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))

    return run


@on_a_loop
async def test_a_flood_of_one_address_reaches_the_database_at_a_limited_rate() -> None:
    site = Site(failures=2.0)
    assert await site.flood(1_000) == 20
    with pytest.raises(Declined) as caught:
        await site.show("one more")
    assert (caught.value.status, caught.value.headers["Retry-After"]) == (429, "1")
    site.at = 3.0
    assert await site.flood(1_000) == 6
    assert site.metrics.failed_authentications["limited"]._value.get() == 1_975


@on_a_loop
async def test_another_address_is_not_affected() -> None:
    site = Site()
    await site.flood(1_000)
    assert await site.show("good", ELSEWHERE) == "good"


@on_a_loop
async def test_a_token_that_was_valid_lately_gets_in_whatever_its_address_sends() -> None:
    site = Site()
    await site.show("good")
    await site.flood(1_000)
    site.at += 60
    await site.flood(1_000)
    assert await site.show("good") == "good"


@on_a_loop
async def test_a_token_that_was_valid_lately_is_looked_up_each_time() -> None:
    site = Site()
    await site.show("good")
    site.valid.clear()
    assert await site.show("good") is None
    site.valid.add("good")
    assert await site.show("good") == "good"


@on_a_loop
async def test_a_refused_token_is_looked_up_again_only_after_seconds() -> None:
    site = Site(failures=0)
    for _ in range(100):
        assert await site.show("bad") is None
    assert site.looked_up == ["bad"]
    site.at = REFUSED_SECONDS + 1
    await site.show("bad")
    assert site.looked_up == ["bad", "bad"]


@on_a_loop
async def test_a_change_of_access_lets_a_refused_token_in_at_once() -> None:
    site = Site()
    await site.show("new")
    site.valid.add("new")
    site.strangers.invalidate()
    assert await site.show("new") == "new"


@on_a_loop
async def test_nothing_is_remembered_as_refused_while_changes_could_be_missed() -> None:
    site = Site()
    site.notified = False
    await site.show("new")
    site.valid.add("new")
    assert await site.show("new") == "new"


@on_a_loop
async def test_strangers_use_a_part_of_the_connections_and_wait_for_the_rest() -> None:
    site = Site(failures=0)
    shown = [asyncio.create_task(site.show(f"bad-{number}")) for number in range(WAITING + 50)]
    results = await asyncio.gather(*shown, return_exceptions=True)
    busy = [error for error in results if isinstance(error, Declined)]
    assert (len(busy), busy[0].status, busy[0].problems[0].code) == (50, 429, "BUSY")
    assert site.most_under_way == LOOK_UPS


@on_a_loop
async def test_a_forged_access_token_counts_as_a_failure() -> None:
    site = Site(failures=1.0)
    for _ in range(10):
        with pytest.raises(InvalidToken):
            await site.show("forged")
    with pytest.raises(Declined, match="TOO_MANY_FAILURES"):
        await site.show("forged")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2:3::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("no address", "no address", True),
    ],
)
@on_a_loop
async def test_an_address_of_ipv6_stands_for_its_network(one: str, other: str, *, same: bool) -> None:
    site = Site(failures=1.0)
    await site.flood(10, one)
    looked_up = len(site.looked_up)
    await site.flood(1, other)
    assert (len(site.looked_up) == looked_up) is same


@on_a_loop
async def test_a_token_that_was_valid_and_is_not_any_more_is_limited_like_any_other() -> None:
    site = Site()
    assert await site.show("good") == "good"
    site.valid.clear()
    before = len(site.looked_up)
    for _ in range(1_000):
        with suppress(Declined):
            assert await site.show("good") is None
    assert len(site.looked_up) - before == 2
    with pytest.raises(Declined):
        await site.show("another")


@on_a_loop
async def test_each_token_that_was_revoked_counts_as_a_failure_of_its_address() -> None:
    site = Site()
    tokens = [f"good {number}" for number in range(1_000)]
    site.valid.update(tokens)
    for token in tokens:
        assert await site.show(token) == token
    site.valid.clear()
    for token in tokens:
        with suppress(Declined):
            await site.show(token)
    with pytest.raises(Declined):
        await site.show("another")
