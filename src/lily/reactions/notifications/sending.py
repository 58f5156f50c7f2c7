"""Sends messages over a channel: several at a time, those of one thread in order, each within a time."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import structlog

from lily.model.errors import LilyError, Terminal, Transient
from lily.plugins import Channel, DestinationGone
from lily.reactions.notifications.messages import Message

DELIVER_SECONDS = 45.0  # for one message: longer than channels themselves wait, for those that do not bound it

_log = structlog.get_logger()


class NoResponse(Transient):
    """The receiver did not respond in time."""


class ChannelFailed(Terminal):
    """The channel raised something that is no error of its port."""


class Sent(NamedTuple):
    """The receiver's id, or what went wrong."""

    message: Message
    receiver: str = ""
    error: LilyError | None = None


async def send(
    channel: Channel, destination: str, messages: Sequence[Message], previous: Mapping[str, str]
) -> tuple[list[Sent], float]:
    """What became of the messages, without those behind one of their thread that is to be tried again; and how many
    seconds the slowest of them took. `previous` has for a thread what the receiver returned first."""
    threads: dict[str, list[Message]] = {}
    for message in messages:
        threads.setdefault(message.thread, []).append(message)
    began = time.monotonic()
    sent = await asyncio.gather(
        *(_send_thread(channel, destination, listed, previous.get(key, "")) for key, listed in threads.items())
    )
    return [one for listed in sent for one in listed], time.monotonic() - began


async def _send_thread(channel: Channel, destination: str, messages: Sequence[Message], previous: str) -> list[Sent]:
    found: list[Sent] = []
    for message in messages:
        sent = await _send(channel, destination, message.continuing(previous) if previous else message)
        found.append(sent)
        if isinstance(sent.error, Transient):
            break
        previous = previous or sent.receiver
    return found


async def _send(channel: Channel, destination: str, message: Message) -> Sent:
    try:
        async with asyncio.timeout(DELIVER_SECONDS):
            return Sent(message, str(await channel.deliver(message.notification, destination) or ""))
    except TimeoutError as error:
        return Sent(message, error=_chained(NoResponse(f"no response within {DELIVER_SECONDS:g} seconds"), error))
    except (Transient, DestinationGone, Terminal) as error:
        return Sent(message, error=error)
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
        _log.exception("channel failed", tenant=message.notification.tenant, notification=message.notification.id)
        described = (
            f"the channel failed with {type(error).__name__}; search the worker's log for {message.notification.id}"
        )
        return Sent(message, error=_chained(ChannelFailed(described), error))


def _chained(error: LilyError, cause: BaseException) -> LilyError:
    error.__cause__ = cause
    return error
