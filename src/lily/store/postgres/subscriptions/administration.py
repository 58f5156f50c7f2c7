"""Channels, subscriptions, mentions and mutes as the API administers them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from lily.model.access import Principal
from lily.notify.identities import job_group, target_of
from lily.notify.kinds import wanted_changes
from lily.notify.matching import fold
from lily.notify.mentions import Mention
from lily.notify.subscriptions import Subscription
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database
from lily.store.postgres.subscriptions.changing import Object, change

TEST_TASK = "test-channel"
FIRST = "00000000-0000-0000-0000-000000000000"


def sealed_name(key: str) -> str:
    """Under which the configuration of a channel is encrypted."""
    return f"channel/{key}"


@dataclass(frozen=True, slots=True)
class NewChannel:
    """`key` is the folded name. The configuration is encrypted; None keeps the stored one."""

    key: str
    name: str
    type: str
    per_second: float | None
    wrapped_key: bytes | None
    sealed: bytes | None

    def values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


class Administration:
    """On behalf of one caller. Raises what the database raises."""

    def __init__(self, database: Database, principal: Principal, correlation: str) -> None:
        self._database, self._principal, self._correlation = database, principal, correlation

    async def add_channel(self, channel: NewChannel, *, most: int | None = None) -> bool:
        """False if there is one of that name, or if the tenant has `most` others."""
        return await self._change("add_channel", {**channel.values(), "most": most}, "channel.added") is not None

    async def replace_channel(self, channel: NewChannel) -> bool:
        """False if there is none, or if its type would change without a new configuration."""
        how = "adjust_channel" if channel.sealed is None else "replace_channel"
        return await self._change(how, channel.values(), "channel.replaced") is not None

    async def remove_channel(self, key: str) -> bool:
        """False if there is none, or if a subscription names it."""
        return await self._change("remove_channel", {"key": key}, "channel.removed") is not None

    async def put_subscription(self, identity: str, subscription: Subscription, *, most: int | None = None) -> bool:
        """False if there is no such channel, or if it would be a new one and the tenant has `most` others."""
        values = {
            "id": identity,
            "name": subscription.name,
            "channel": fold(subscription.channel),
            "enabled": subscription.enabled,
            "changes": sorted(wanted_changes(subscription.filters.patterns)),
            "body": Jsonb(subscription.stored()),
            "most": most,
        }
        return await self._change("put_subscription", values, "subscription.put") is not None

    async def delete_subscription(self, identity: str) -> bool:
        return await self._change("delete_subscription", {"id": identity}, "subscription.deleted") is not None

    async def create_mention(self, mention: Mention) -> bool:
        """False if there is one of that name."""
        values = {"key": fold(mention.name), "name": mention.name, "handles": Jsonb(mention.handles)}
        return await self._change("create_mention", values, "mention.created") is not None

    async def replace_mention(self, key: str, mention: Mention) -> Object | None:
        values = {"key": key, "handles": Jsonb(mention.handles)}
        changed = await self._change("replace_mention", values, "mention.replaced")
        return changed and changed[1]

    async def delete_mention(self, key: str) -> bool:
        return await self._change("delete_mention", {"key": key}, "mention.deleted") is not None

    async def create_mute(
        self, identity: str, *, asset: str | None, kind: str | None, until: datetime | None, reason: str
    ) -> Object | None:
        values = {"id": identity, "asset": asset, "kind": kind, "until": until, "reason": reason}
        changed = await self._change("create_mute", values, "mute.created")
        return changed and changed[1]

    async def delete_mute(self, identity: str) -> bool:
        return await self._change("delete_mute", {"id": identity}, "mute.deleted") is not None

    async def _change(
        self, how: str, values: dict[str, Any], action: str
    ) -> tuple[Object | None, Object | None] | None:
        return await change(self._database, self._principal, how, values, action=action, correlation=self._correlation)


async def find(database: Database, tenant: str, listed: str, key: str) -> Object | None:
    """`listed` is `channels`, `mentions` or `subscriptions`."""
    rows = await database.fetch(tenant, query(f"subscriptions/{listed}"), _one(listed, key))
    return rows[0][1] if rows else None


async def page(database: Database, tenant: str, listed: str, beyond: str, limit: int) -> list[tuple[str, Object]]:
    """Keys and objects after the key `beyond`; also `mutes`."""
    parameters = {"key": None, "id": None, "beyond": beyond, "limit": limit}
    rows = await database.fetch(tenant, query(f"subscriptions/{listed}"), parameters)
    return [(key, shown) for key, shown in rows]


async def request_test(database: Database, tenant: str, key: str, destination: str, request: str) -> bool:
    """Queues a test of a channel; False if there is no such channel."""
    parameters = {
        "key": key,
        "destination": destination,
        "request": request,
        "task": TEST_TASK,
        "group": job_group(f"test/{target_of(key, destination)}"),
    }
    return bool(await database.fetch(tenant, query("subscriptions/request_test"), parameters))


def _one(listed: str, key: str) -> dict[str, Any]:
    if listed == "subscriptions":
        return {"id": key, "beyond": FIRST, "limit": 1}
    return {"key": key, "beyond": "", "limit": 1}
