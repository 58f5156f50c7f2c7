"""A notification for programs: the body of a webhook, and the value of a record."""

from typing import Any

from lily.connect.channels.texts import encoded, legible, link, one_line
from lily.plugins import Notification

FORMAT = 1  # of `data`; fields may be added to it without a new one
_OURS = frozenset({"previous"})  # what only the channel needs


def body_of(notification: Notification) -> bytes:
    """`type` is the kind, `data.id` the idempotency key. What a receiver gets twice is the same to the letter."""
    data: dict[str, Any] = {
        "id": notification.id,
        "format": FORMAT,
        "tenant": notification.tenant,
        "severity": notification.severity,
        "title": one_line(notification.title),
        "text": legible(notification.text),
        "url": link(notification.url),
        "assets": [one_line(name) for name in notification.assets],
        "mentions": [{"name": one.name, "handle": one.handle} for one in notification.mentions],
        "details": {name: value for name, value in sorted(notification.data.items()) if name not in _OURS},
    }
    return encoded({"type": notification.kind, "timestamp": notification.at, "data": data})
