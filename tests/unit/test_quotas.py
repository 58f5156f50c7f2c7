"""What a tenant may send to a process: rates with bursts, other limits for one tenant, and a pause that is stated."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from hypothesis import given
from hypothesis import strategies as st

from lily.api.grpc.failures import failure_for
from lily.api.http.errors import Declined
from lily.api.metrics import ApiMetrics
from lily.api.quotas.bucket import Bucket
from lily.api.quotas.quotas import Quotas
from lily.model.access import Principal
from lily.model.errors import Transient
from lily.model.quotas import TenantLimits

DEFAULTS = TenantLimits(10, 10, 100, 1_000, 3)
BURST = 2.0


def principal(tenant: str, *scopes: str) -> Principal:
    return Principal("id", tenant, "ann", frozenset(scopes or ("admin",)))


@dataclass
class Site:
    """A process with a clock that the test moves, and what administrators set."""

    stated: dict[str, TenantLimits] = field(default_factory=dict)
    at: float = 0.0
    fails: bool = False

    def __post_init__(self) -> None:
        self.metrics = ApiMetrics()
        self.quotas = Quotas(DEFAULTS, BURST, self._load, self.metrics.quota_refusals, lambda: self.at)

    async def _load(self, tenant: str) -> TenantLimits:
        if self.fails:
            raise Transient("no database")
        return self.stated.get(tenant, TenantLimits())

    async def loaded(self, tenant: str) -> None:
        self.quotas.connections(tenant)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def sent(self, tenant: str, *scopes: str) -> int:
        """Requests until one is refused."""
        number = 0
        while True:
            try:
                self.quotas.count(principal(tenant, *scopes))
            except Declined:
                return number
            number += 1
            assert number < 10_000


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))

    return run


@given(st.integers(1, 50), st.floats(0.1, 20), st.lists(st.floats(0, 3), max_size=60))
def test_a_bucket_never_gives_more_than_its_rate_and_one_burst(rate: int, burst: float, pauses: list[float]) -> None:
    bucket, now, taken = Bucket(rate, burst, 0.0), 0.0, 0
    for pause in pauses:
        now += pause
        while bucket.has_any(now):
            bucket.take(1)
            taken += 1
    assert taken <= rate * (burst + now) + 1


@on_a_loop
async def test_a_tenant_may_send_a_burst_and_then_its_rate() -> None:
    site = Site()
    assert site.sent("north") == 20
    site.at = 0.5
    assert site.sent("north") == 5
    site.at = 1_000.0
    assert site.sent("north") == 20


@on_a_loop
async def test_a_refusal_states_the_pause_the_setting_and_the_command() -> None:
    site = Site()
    site.quotas.written("north", 350, 0)
    with pytest.raises(Declined) as caught:
        site.quotas.write("north")
    error = caught.value
    assert (error.status, error.headers["Retry-After"]) == (429, "2")
    assert error.problems[0].code == "QUOTA_EXCEEDED"
    for part in ("100 events per second", "LILY_QUOTAS__EVENTS_PER_SECOND", "lily tenant quota"):
        assert part in error.problems[0].description
    site.at = 1.6
    site.quotas.write("north")


@on_a_loop
async def test_a_refusal_over_grpc_states_the_pause() -> None:
    site = Site()
    site.sent("north")
    with pytest.raises(Declined) as caught:
        site.quotas.count(principal("north"))
    failure = failure_for(caught.value)
    status, pause = Status.FromString(failure.trailing[0][1]), RetryInfo()
    assert status.details[0].Unpack(pause)
    assert (failure.code, pause.retry_delay.seconds) == (grpc.StatusCode.RESOURCE_EXHAUSTED, 1)


@on_a_loop
async def test_one_tenant_does_not_use_up_what_another_may_send() -> None:
    site = Site()
    site.sent("north")
    assert site.sent("south") == 20


@on_a_loop
async def test_what_engines_ask_is_counted_apart() -> None:
    site = Site()
    site.sent("north")
    assert site.sent("north", "enforce:read") == 20
    assert site.metrics.quota_refusals["decisions_per_second"]._value.get() == 1


@on_a_loop
async def test_who_may_do_more_than_an_engine_is_not_counted_as_one() -> None:
    site = Site()
    assert site.sent("north", "enforce:read", "metadata:write") == 20
    assert site.sent("north", "metadata:write") == 0
    assert site.sent("north", "enforce:read") == 20


@on_a_loop
async def test_a_plain_read_is_counted_with_the_other_requests() -> None:
    site = Site()
    assert [site.quotas.admits("north") for _ in range(21)] == [True] * 20 + [False]


@on_a_loop
async def test_a_streamed_body_is_slowed_down_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    site, pauses = Site(), list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    site.quotas.written("north", 400, 5_000)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    await site.quotas.room("north")
    assert pauses == [3.0]


@on_a_loop
async def test_what_an_administrator_set_counts_for_that_tenant_alone() -> None:
    site = Site({"north": TenantLimits(requests_per_second=1, connections=0)})
    await site.loaded("north")
    await site.loaded("south")
    assert (site.sent("north"), site.sent("south")) == (2, 20)
    assert (site.quotas.connections("north"), site.quotas.connections("south")) == (0, 3)


@on_a_loop
async def test_a_change_is_read_again_and_forgives_no_debt() -> None:
    site = Site()
    site.quotas.written("north", 10_000, 0)
    site.stated["north"] = TenantLimits(events_per_second=1_000)
    site.quotas.invalidate()
    await site.loaded("north")
    with pytest.raises(Declined, match="1,000 events"):
        site.quotas.write("north")


@on_a_loop
async def test_no_limit_is_no_limit() -> None:
    site = Site({"north": TenantLimits(0, 0, 0, 0, 0)})
    await site.loaded("north")
    for _ in range(1_000):
        site.quotas.count(principal("north"))
    site.quotas.written("north", 10**9, 10**12)
    site.quotas.write("north")


@on_a_loop
async def test_the_limits_stay_while_the_database_does_not_respond() -> None:
    site = Site({"north": TenantLimits(requests_per_second=1)})
    await site.loaded("north")
    site.fails = True
    site.quotas.invalidate()
    await site.loaded("north")
    assert site.sent("north") == 2


def test_what_was_sent_without_a_limit_is_no_debt_once_there_is_one() -> None:
    bucket = Bucket(0, 10, 0.0)
    assert bucket.has_any(1.0)
    bucket.take(1e9)
    bucket.change(5, 10)
    assert (bucket.has_any(2.0), bucket.seconds(2.0)) == (True, 0.0)
    bucket.take(51)
    assert not bucket.has_any(2.0)
