"""The notifications of one incident, with text that no vendor must take for anything else."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Any, TypeVar

from lily.plugins import Mention, Notification, Surroundings, situated

R = TypeVar("R")
INCIDENT = "0190a5b0-7b1e-8c3d-9e4f-0123456789ab"
PLACE = Surroundings("acme", "alerts", datetime(2026, 3, 1, tzinfo=UTC), (ip_network("127.0.0.0/8"),))
OPENED = Notification(
    "n-1",
    "acme",
    "incident.opened",
    "critical",
    "Orders & <returns> are late",
    "@Ann Lee, no rows for 3 hours.\nSee <https://evil.example|this> and [that](https://evil.example), *now*.",
    "2026-03-02T08:30:00.000000Z",
    "https://lily.example/incidents/7?from=alert&to=me",
    ("shop.public.orders", "shop.public.returns"),
    {"incident_id": INCIDENT, "state": "open", "previous": ""},
    (Mention("Ann Lee", "UANN42"), Mention("Data Team", "SDATA7")),
)


def changed(state: str, previous: str, id_: str = "n-2") -> Notification:
    data = {**OPENED.data, "state": state, "previous": previous}
    return replace(OPENED, id=id_, kind=f"incident.{state}", title=f"It is {state}", text="By Ann.", data=data)


def using(
    plugin: type[Any], settings: Mapping[str, Any], call: Callable[[Any], Awaitable[R]], place: Surroundings = PLACE
) -> R:
    """A channel as the worker uses it."""

    async def used() -> R:
        channel = situated(plugin(plugin.Config.model_validate(dict(settings))), place)
        try:
            return await call(channel)
        finally:
            await channel.close()

    return asyncio.run(used())


def delivered(
    plugin: type[Any],
    settings: Mapping[str, Any],
    notification: Notification,
    destination: str,
    place: Surroundings = PLACE,
) -> str:
    return str(using(plugin, settings, lambda channel: channel.deliver(notification, destination), place))


def checked(plugin: type[Any], settings: Mapping[str, Any], destination: str) -> None:
    using(plugin, settings, lambda channel: channel.check(destination))
