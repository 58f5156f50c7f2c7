"""Listens to PostgreSQL's notifications: progress of the pipeline and the relay, changes of access and of tags."""

import asyncio
from collections.abc import Callable
from typing import NoReturn

import psycopg
import structlog

APPLIED = "lily_applied"
PUBLISHED = "lily_published"
ACCESS = "lily_access"
TAGS = "lily_tags"  # the payload names the tenant
CHANNELS = (APPLIED, PUBLISHED, ACCESS, TAGS)
RECONNECT_SECONDS = 1.0

log = structlog.get_logger()


async def listen(url: str, heard: Callable[[str, str], None]) -> NoReturn:
    """Calls `heard` with the channel and the payload of each notification, for ever; reconnects by itself.

    What was said while the connection was down is lost, so after each connect every channel counts as heard once.
    """
    lost = False
    while True:
        try:
            async with await _connected(url) as connection:
                if lost:
                    log.info("listener.back")
                lost = False
                await _hear_out(connection, heard)
        except psycopg.OperationalError as error:
            if not lost:
                log.warning("listener.lost", reason=str(error).partition("\n")[0], retry_seconds=RECONNECT_SECONDS)
            lost = True
        await asyncio.sleep(RECONNECT_SECONDS)


async def _connected(url: str) -> psycopg.AsyncConnection:
    return await psycopg.AsyncConnection.connect(
        url, autocommit=True, application_name="lily-api-listener", connect_timeout=5, keepalives_idle=10
    )


async def _hear_out(connection: psycopg.AsyncConnection, heard: Callable[[str, str], None]) -> None:
    for channel in CHANNELS:
        await connection.execute(f"listen {channel}".encode())
    for channel in CHANNELS:
        heard(channel, "")
    async for notification in connection.notifies():
        heard(notification.channel, notification.payload)
