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


async def listen(url: str, on_notification: Callable[[str, str], None]) -> NoReturn:
    """Calls `on_notification` with the channel and payload of each notification, forever; reconnects by itself.

    Notifications sent while the connection is down are lost, so after each connect every channel is notified once.
    """
    lost = False
    while True:
        try:
            async with await _connect(url) as connection:
                if lost:
                    log.info("listener.reconnected")
                lost = False
                await _receive(connection, on_notification)
        except psycopg.OperationalError as error:
            if not lost:
                log.warning("listener.lost", reason=str(error).partition("\n")[0], retry_seconds=RECONNECT_SECONDS)
            lost = True
        await asyncio.sleep(RECONNECT_SECONDS)


async def _connect(url: str) -> psycopg.AsyncConnection:
    return await psycopg.AsyncConnection.connect(
        url, autocommit=True, application_name="lily-api-listener", connect_timeout=5, keepalives_idle=10
    )


async def _receive(connection: psycopg.AsyncConnection, on_notification: Callable[[str, str], None]) -> None:
    for channel in CHANNELS:
        await connection.execute(f"listen {channel}".encode())
    for channel in CHANNELS:
        on_notification(channel, "")
    async for notification in connection.notifies():
        on_notification(notification.channel, notification.payload)
