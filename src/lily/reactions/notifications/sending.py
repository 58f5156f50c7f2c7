"""Sends messages over a channel: several at a time, those of one thread in order, each within a time."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import NamedTuple

import structlog

from lily.model.errors import LilyError, Terminal, Transient
from lily.plugins import Channel
from lily.reactions.notifications.messages import Message

DELIVER_SECONDS = 45.0  # for one message: longer than channels themselves wait, for those that do not bound it
AT_ONCE = 16  # messages that are under way to one destination

_log = structlog.get_logger()


class NoResponse(Transient):
    """The receiver did not respond in time."""


class ChannelFailed(Terminal):
    """The channel raised something that is no error of its port."""


class Sent(NamedTuple):
    """The receiver's id, or what went wrong; and how long it took."""

    message: Message
    receiver: str = ""
    error: LilyError | None = None
    seconds: float = 0.0


async def send(
    channel: Channel, destination: str, messages: Sequence[Message], previous: Mapping[str, str]
) -> list[Sent]:
    """Sends messages, several at a time, and returns what became of them. Once one is to be tried again, no other is
    begun, so some may be missing. `previous` has for a thread what the receiver returned first."""
    threads: dict[str, list[Message]] = {}
    for message in messages:
        threads.setdefault(message.thread, []).append(message)
    waiting, sent, failed = iter(threads.items()), list[Sent](), False

    async def serve() -> None:
        nonlocal failed
        for key, listed in waiting:
            async for one in _thread(channel, destination, listed, previous.get(key, "")):
                sent.append(one)
                failed = failed or isinstance(one.error, Transient)
                if failed:
                    return

    await asyncio.gather(*(serve() for _ in range(min(AT_ONCE, len(threads)))))
    return sent


async def _thread(
    channel: Channel, destination: str, messages: Sequence[Message], previous: str
) -> AsyncIterator[Sent]:
    for message in messages:
        sent = await _send(channel, destination, message.continuing(previous) if previous else message)
        previous = previous or sent.receiver
        yield sent


async def _send(channel: Channel, destination: str, message: Message) -> Sent:
    began = time.monotonic()
    try:
        async with asyncio.timeout(DELIVER_SECONDS):
            return Sent(message, str(await channel.deliver(message.notification, destination) or ""))
    except TimeoutError as error:
        found = _chained(NoResponse(f"no response within {DELIVER_SECONDS:g} seconds"), error)
    except (Transient, Terminal) as error:
        found = error
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
        _log.exception("channel failed", tenant=message.notification.tenant, notification=message.notification.id)
        described = f"the channel failed with {type(error).__name__}"
        remedy = f"search the worker's log for {message.notification.id}"
        found = _chained(ChannelFailed(f"{described}; {remedy}"), error)
    return Sent(message, error=found, seconds=time.monotonic() - began)


def _chained(error: LilyError, cause: BaseException) -> LilyError:
    error.__cause__ = cause
    return error
