"""The channels that a worker has made, kept with their connections until their configuration changes."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

import orjson
import structlog

from lily.enforce.surroundings import surroundings_of
from lily.model.errors import LilyError, Terminal
from lily.plugins import CHANNELS, Channel, installed, situated
from lily.reactions.event_loop import EventLoop
from lily.settings import Settings
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.deliveries.ledger import StoredChannel
from lily.store.postgres.subscriptions.administration import sealed_name

MAX_KEPT = 200
CLOSE_SECONDS = 60.0  # after it was replaced: by then nothing that another job sends with it is under way

_log = structlog.get_logger()


class UnusableChannel(Terminal):
    """The channel cannot be made from its configuration."""


class ChannelPool:
    """Shared by the threads of a worker: a channel can be called concurrently."""

    def __init__(self, settings: Settings, loop: EventLoop) -> None:
        self._settings, self._loop = settings, loop
        self._lock = threading.Lock()
        self._dropped: list[tuple[float, Channel]] = []  # and since when
        self._kept: OrderedDict[tuple[str, str], tuple[int, Channel]] = OrderedDict()

    def get(self, tenant: str, key: str, stored: StoredChannel) -> Channel:
        """Raises Terminal if the configuration cannot be decrypted or used here."""
        with self._lock:
            kept = self._kept.get((tenant, key))
        if kept is not None and kept[0] == stored.version:
            return kept[1]
        made = self._made(tenant, key, stored)  # without the lock: it may look up the name of a host
        now = time.monotonic()
        with self._lock:
            dropped = [self._kept.pop((tenant, key), None)]
            self._kept[tenant, key] = (stored.version, made)
            if len(self._kept) > MAX_KEPT:
                dropped.append(self._kept.popitem(last=False)[1])
            self._dropped += [(now, one[1]) for one in dropped if one is not None]
            ended = [one for since, one in self._dropped if since < now - CLOSE_SECONDS]
            self._dropped = [(since, one) for since, one in self._dropped if since >= now - CLOSE_SECONDS]
        self._close(ended)
        return made

    def close(self) -> None:
        """Closes all channels, and the loop with them."""
        with self._lock:
            channels = [one for _, one in (*self._kept.values(), *self._dropped)]
            self._kept.clear()
            self._dropped.clear()
        self._close(channels)
        self._loop.close()

    def _close(self, channels: Sequence[Channel]) -> None:
        for channel in channels:
            try:
                self._loop.run(asyncio.wait_for(channel.close(), CLOSE_SECONDS))
            except Exception:  # noqa: BLE001 - a plug-in may raise anything, and the others are to be closed too
                _log.exception("channel not closed")

    def _made(self, tenant: str, key: str, stored: StoredChannel) -> Channel:
        vault = Vault.of(self._settings.master_key_file)
        config = orjson.loads(vault.open(tenant, sealed_name(key), stored.wrapped_key, stored.sealed))
        place = surroundings_of(self._settings, tenant, key, stored.created_at)
        try:
            return situated(installed().make(CHANNELS, stored.type, config), place)
        except LilyError:
            raise
        except Exception as error:
            raise UnusableChannel(f"the channel {stored.name} cannot be made: {type(error).__name__}") from error
