"""The API's listener stops when it is cancelled, also at the moment at which PostgreSQL confirms the connection."""

import asyncio
from typing import Any

import psycopg
import pytest

from lily.store.postgres import listener
from tests.postgres.migrated import Migrated

PATIENCE_SECONDS = 20.0


def test_it_stops_if_it_is_cancelled_just_when_the_confirmation_arrives(
    migrated: Migrated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What happened to `lily api` when its port was taken: it stops milliseconds after it has begun to listen."""
    execute = psycopg.AsyncConnection.execute

    async def story() -> None:
        async def confirmed(connection: psycopg.AsyncConnection, text: Any) -> Any:
            cursor = await execute(connection, text)
            if text == "select 1":
                asyncio.get_running_loop().call_soon(listening.cancel)
            return cursor

        monkeypatch.setattr(psycopg.AsyncConnection, "execute", confirmed)
        listening = asyncio.create_task(listener.listen(migrated.url_of("lily_api"), lambda _channel, _payload: None))
        await asyncio.wait([listening], timeout=PATIENCE_SECONDS)
        assert listening.cancelled()

    asyncio.run(story())
