"""How many channels and subscriptions a tenant may have."""

import asyncio
import uuid

from lily.store.postgres.sessions import CONNECTIONS
from tests.postgres.notified import Notified


def put(notified: Notified, identity: str, most: int) -> bool:
    return notified.wait(notified.administration.put_subscription(identity, notified.subscription(), most=most))


def stored(notified: Notified) -> int:
    rows = notified.connection.execute("select count(*) from subscriptions where tenant_id = %s", [notified.tenant])
    return int(rows.fetchall()[0][0])


def test_a_tenant_has_a_limited_number_of_subscriptions_and_can_still_change_them(
    notified: Notified, other: Notified
) -> None:
    first, second, third = (str(uuid.uuid4()) for _ in range(3))
    assert [put(notified, one, 2) for one in (first, second, third)] == [True, True, False]
    assert put(notified, first, 2)
    assert put(notified, first, 1), "a limit that was lowered keeps what there is"
    assert put(other, third, 2), "each tenant has a limit of its own"
    assert notified.wait(notified.administration.delete_subscription(second))
    assert put(notified, third, 2)
    assert stored(notified) == 2


def test_a_tenant_has_a_limited_number_of_channels(notified: Notified, other: Notified) -> None:
    assert [notified.channel(name, most=3) for name in ("two", "three", "four")] == [True, True, False]
    assert not notified.channel("two", most=10), "it exists already"
    assert other.channel("four", most=3)
    assert notified.wait(notified.administration.remove_channel("two"))
    assert notified.channel("four", most=3)


def test_concurrent_calls_exceed_the_limit_by_those_that_run_at_a_time_at_the_most(notified: Notified) -> None:
    subscription, most = notified.subscription(), 5

    async def create(times: int) -> list[bool]:
        puts = (
            notified.administration.put_subscription(str(uuid.uuid4()), subscription, most=most) for _ in range(times)
        )
        return await asyncio.gather(*puts)

    created = sum(notified.wait(create(60)))
    assert most <= created < most + CONNECTIONS
    assert stored(notified) == created
    assert not any(notified.wait(create(10)))
