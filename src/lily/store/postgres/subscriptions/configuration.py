"""What decides who is notified, as the reaction keeps it for each tenant and as `explain` reads it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from lily.notify.matching import Matcher, fold
from lily.notify.mentions import Handles
from lily.notify.mutes import Mute
from lily.notify.subscriptions import Subscription
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches


class Stored(NamedTuple):
    """A subscription as it is stored."""

    id: str
    channel: str  # the key
    created_at: str
    subscription: Subscription
    matcher: Matcher


class ChannelName(NamedTuple):
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Configuration:
    subscriptions: tuple[Stored, ...] = ()
    channels: dict[str, ChannelName] | None = None
    handles: Handles | None = None
    mutes: tuple[Mute, ...] = ()

    @property
    def looks_upstream(self) -> bool:
        return any(one.subscription.filters.downstream_of for one in self.subscriptions)

    @property
    def looks_at_downstream_owners(self) -> bool:
        return any(one.subscription.filters.downstream_owners for one in self.subscriptions)

    def channel(self, key: str) -> ChannelName:
        return (self.channels or {}).get(key, ChannelName(key, ""))


NOTHING = Configuration()


async def read_version(database: Fetches, tenant: str) -> int:
    """0 for a tenant that never had a channel or subscription."""
    rows = await database.fetch(tenant, query("subscriptions/version"), {})
    return rows[0][0] if rows else 0


async def read_configuration(database: Fetches, tenant: str, *, disabled: bool = False) -> Configuration:
    """The enabled subscriptions, with `disabled` all of them."""
    ((subscriptions, channels, handles, mutes),) = await database.fetch(
        tenant, query("subscriptions/configuration"), {"disabled": disabled}
    )
    return Configuration(
        tuple(_stored(tenant, one) for one in subscriptions),
        {key: ChannelName(*found) for key, found in channels.items()},
        {fold(name): found for name, found in handles.items()},
        tuple(_mute(*one) for one in mutes),
    )


def _stored(tenant: str, row: dict[str, Any]) -> Stored:
    subscription = Subscription.model_validate(row["body"])
    return Stored(row["id"], row["channel"], row["created_at"], subscription, Matcher(tenant, subscription.filters))


def _mute(identity: str, asset: str | None, kind: str | None, until: str | None, reason: str) -> Mute:
    return Mute(identity, asset, kind, datetime.fromisoformat(until) if until else None, reason)
