"""Notifications: channels, subscriptions, mutes, mentions, what was sent, and why something was sent or not."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lily.client import parsing
from lily.client.call import CREATED, Call, path
from lily.client.encoding import encoded, stamped
from lily.client.results import Page

_LISTED = {"limit": "100"}
_MUTES = ("notifications", "mutes")


def add_channel(channel: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Adds a channel with `name`, `type` and `config`. Needs the scope notifications:manage, as the next ones do."""
    return Call("POST", path("channels"), parsing.one(dict), content=encoded(dict(channel)), success=CREATED)


def channels() -> Call[Page[dict[str, Any]]]:
    """Iterates over the channels, with the destinations that fail at the moment."""
    return Call("GET", path("channels"), parsing.page_of(dict), _LISTED)


def change_channel(name: str, channel: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Changes a channel; without `config` the stored configuration stays."""
    return Call("PUT", path("channels", name), parsing.one(dict), content=encoded(dict(channel)))


def remove_channel(name: str) -> Call[dict[str, Any]]:
    """Removes a channel that no subscription names."""
    return Call("DELETE", path("channels", name), parsing.one(dict))


def send_test(name: str, destination: str = "") -> Call[dict[str, Any]]:
    """Sends a test now, and returns what the receiver returned."""
    content = encoded({"destination": destination})
    return Call("POST", path("channels", name, "test"), parsing.one(dict), content=content, wait=30, retryable=False)


def subscribe(subscription: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Creates a subscription with `name`, `filters`, `channel` and `destination`."""
    body = encoded(dict(subscription))
    return Call("POST", path("subscriptions"), parsing.one(dict), content=body, success=CREATED, retryable=False)


def subscriptions() -> Call[Page[dict[str, Any]]]:
    """Iterates over the subscriptions."""
    return Call("GET", path("subscriptions"), parsing.page_of(dict), _LISTED)


def change_subscription(subscription_id: str, subscription: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Replaces a subscription."""
    body = encoded(dict(subscription))
    return Call("PUT", path("subscriptions", subscription_id), parsing.one(dict), content=body)


def unsubscribe(subscription_id: str) -> Call[dict[str, Any]]:
    """Deletes a subscription."""
    return Call("DELETE", path("subscriptions", subscription_id), parsing.one(dict))


def explain_subscription(subscription_id: str, event: str) -> Call[dict[str, Any]]:
    """Explains why an event was sent to a subscription or not: of a notification, an incident or a change, by id."""
    return Call("GET", path("subscriptions", subscription_id, "explain"), parsing.one(dict), {"event": event})


def notified(
    *,
    kind: str | None = None,
    severity: str | None = None,
    acknowledged: bool | None = None,
    asset: str | None = None,
    incident: str | None = None,
    muted: bool = False,
) -> Call[Page[dict[str, Any]]]:
    """Iterates over notifications, newest first; with `muted` over those that a mute suppressed instead. Those about
    incidents need the scope incidents:read, the others metadata:read."""
    stated = None if acknowledged is None else str(acknowledged).lower()
    given = {"kind": kind, "severity": severity, "acknowledged": stated, "asset": asset, "incident": incident}
    given |= {"muted": "true"} if muted else {}
    chosen = {name: value for name, value in given.items() if value is not None}
    return Call("GET", path("notifications"), parsing.page_of(dict), _LISTED | chosen)


def notification(notification_id: str) -> Call[dict[str, Any]]:
    """Returns a notification with its deliveries."""
    return Call("GET", path("notifications", notification_id), parsing.one(dict))


def acknowledge_notification(notification_id: str) -> Call[dict[str, Any]]:
    """Acknowledges a notification. Needs the scope incidents:write or notifications:manage."""
    return Call("POST", path("notifications", notification_id, "acknowledge"), parsing.one(dict))


def mute(
    *, asset: str | None = None, kind: str | None = None, until: datetime | str | None = None, reason: str = ""
) -> Call[dict[str, Any]]:
    """Mutes an asset with everything below it, a kind of event, or a kind for an asset, until a time or until it is
    ended. Needs the scope notifications:manage, as the next ones do."""
    stated = {"asset": asset, "kind": kind, "until": None if until is None else stamped(until), "reason": reason}
    body = encoded({name: value for name, value in stated.items() if value is not None})
    return Call("POST", path(*_MUTES), parsing.one(dict), content=body, success=CREATED, retryable=False)


def mutes() -> Call[Page[dict[str, Any]]]:
    """Iterates over the mutes that have not ended."""
    return Call("GET", path(*_MUTES), parsing.page_of(dict), _LISTED)


def unmute(mute_id: str) -> Call[dict[str, Any]]:
    """Ends a mute."""
    return Call("DELETE", path(*_MUTES, mute_id), parsing.one(dict))


def create_mention(name: str, handles: Mapping[str, str]) -> Call[dict[str, Any]]:
    """States what an owner or team is called where messages go, by the name or the type of a channel."""
    body = encoded({"name": name, "handles": dict(handles)})
    return Call("POST", path("mentions"), parsing.one(dict), content=body, success=CREATED, retryable=False)


def mentions() -> Call[Page[dict[str, Any]]]:
    """Iterates over the mentions, by name."""
    return Call("GET", path("mentions"), parsing.page_of(dict), _LISTED)


def change_mention(name: str, handles: Mapping[str, str]) -> Call[dict[str, Any]]:
    """Replaces the handles of an owner or team."""
    body = encoded({"name": name, "handles": dict(handles)})
    return Call("PUT", path("mentions", name), parsing.one(dict), content=body)


def remove_mention(name: str) -> Call[dict[str, Any]]:
    """Removes a mention."""
    return Call("DELETE", path("mentions", name), parsing.one(dict))
