"""The channels that a worker has made, kept with their connections until their configuration changes."""

import threading
from collections import OrderedDict

import orjson

from lily.enforce.surroundings import surroundings_of
from lily.model.errors import LilyError, Terminal
from lily.plugins import CHANNELS, Channel, installed, situated
from lily.reactions.notifications.loop import EventLoop
from lily.settings import Settings
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.notifications.administration import sealed_name
from lily.store.postgres.notifications.deliveries import StoredChannel

MAX_KEPT = 200
CLOSE_SECONDS = 60.0  # after it was replaced: by then nothing that another job sends with it is under way


class UnusableChannel(Terminal):
    """The channel cannot be made from its configuration."""


class ChannelPool:
    """Shared by the threads of a worker: a channel can be called concurrently."""

    def __init__(self, settings: Settings, loop: EventLoop) -> None:
        self._settings, self._loop = settings, loop
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[int, Channel]] = OrderedDict()

    def get(self, tenant: str, key: str, stored: StoredChannel) -> Channel:
        """Raises Terminal if the configuration cannot be decrypted or used here."""
        with self._lock:
            kept = self._kept.get((tenant, key))
        if kept is not None and kept[0] == stored.version:
            return kept[1]
        made = self._made(tenant, key, stored)  # without the lock: it may look up the name of a host
        with self._lock:
            dropped = [self._kept.pop((tenant, key), None)]
            self._kept[tenant, key] = (stored.version, made)
            if len(self._kept) > MAX_KEPT:
                dropped.append(self._kept.popitem(last=False)[1])
        for one in dropped:
            if one is not None:
                self._loop.later(CLOSE_SECONDS, one[1].close())
        return made

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
