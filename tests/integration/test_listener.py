"""The API's ear in PostgreSQL: what was sent while it was away is not missed."""

import asyncio

import psycopg
import pytest

from lily.store.postgres import listener
from tests.shared_stack import Stack

# The API's own listens as another role.
END = "select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = 'lily' and application_name = %s"


def test_after_each_connect_every_channel_is_notified_because_notifications_may_be_lost(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "RECONNECT_SECONDS", 0.05)
    heard: set[str] = set()

    async def story() -> None:
        complete = asyncio.Event()

        def hear(channel: str, payload: str) -> None:
            if not payload:  # a real one of the channel `lily_tags` names its tenant
                heard.add(channel)
            if heard >= set(listener.CHANNELS):
                complete.set()

        listening = asyncio.create_task(listener.listen(stack.database, hear))
        await asyncio.wait_for(complete.wait(), 30)
        complete.clear()
        heard.clear()
        async with await psycopg.AsyncConnection.connect(stack.database) as connection:
            assert await (await connection.execute(END, ["lily-api-listener"])).fetchone() == (1,)
        await asyncio.wait_for(complete.wait(), 30)
        listening.cancel()

    asyncio.run(story())
