"""Listens to PostgreSQL's notifications: progress of the pipeline and the relay, changes of access, tags and policies.

Silence proves nothing, so the connection is tested all the time: a cache that decisions depend on has to know that it
would have been notified of a change.
"""

import asyncio
import time
from collections.abc import Callable
from typing import NoReturn

import psycopg
import structlog

APPLIED = "lily_applied"
PUBLISHED = "lily_published"
ACCESS = "lily_access"
TAGS = "lily_tags"  # the payload names the tenant
POLICIES = "lily_policies"  # the payload names the tenant
WEBHOOKS = "lily_webhooks"  # a secret of webhooks changed; the payload names the tenant
CHANNELS = (APPLIED, PUBLISHED, ACCESS, TAGS, POLICIES, WEBHOOKS)
# Not channels of PostgreSQL. CONFIRMED: everything that was committed before the time in the payload (of the monotonic
# clock) has been notified. LOST: notifications may be missing from now on.
CONFIRMED, LOST = "confirmed", "lost"
RECONNECT_SECONDS = 1.0
CONFIRM_SECONDS = 0.4
CONFIRM_PATIENCE_SECONDS = 5.0

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
        except (psycopg.OperationalError, TimeoutError) as error:
            if not lost:
                log.warning(
                    "listener.lost",
                    reason=str(error).partition("\n")[0] or "no response",
                    retry_seconds=RECONNECT_SECONDS,
                )
            lost = True
        finally:
            on_notification(LOST, "")
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
    while True:
        began = time.monotonic()
        # Not asyncio.wait_for: before Python 3.12 it can drop a cancellation, and the API would not stop.
        async with asyncio.timeout(CONFIRM_PATIENCE_SECONDS):
            # The server sends the notifications that it owes before it reports that it is ready for the next query.
            await connection.execute("select 1")
        async for notification in connection.notifies(timeout=0):
            on_notification(notification.channel, notification.payload)
        on_notification(CONFIRMED, str(began))
        async for notification in connection.notifies(timeout=CONFIRM_SECONDS):
            on_notification(notification.channel, notification.payload)
