"""What a notification is about, and the labels by which a tracker finds what it has about it already."""

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from lily.connect.channels.texts import legible, one_line
from lily.plugins import Notification

RESOLVED = "resolved"
MAX_ASSETS = 20  # that a message for people lists
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


class Incident(NamedTuple):
    """`previous` is what the receiver called its first message about it; empty if there was none."""

    id: str
    state: str
    previous: str


def incident_of(notification: Notification) -> Incident:
    """All of it is empty if the notification is about none."""
    data = notification.data
    return Incident(*(str(data.get(name) or "") for name in ("incident_id", "state", "previous")))


def label(id_: str, limit: int = 100) -> str:
    """`lily-` and the id, or a digest of it where a label cannot be that long or have such characters."""
    plain = f"lily-{id_}"
    if _PLAIN.fullmatch(id_) and len(plain) <= limit:
        return plain
    return f"lily-{digest(id_)}"


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:24]


def title_of(notification: Notification) -> str:
    """Never empty."""
    return one_line(notification.title) or one_line(notification.kind) or "Notification"


def facts(notification: Notification) -> Sequence[tuple[str, str]]:
    """What is known besides the text, as names and values."""
    listed = [one_line(name) for name in notification.assets[:MAX_ASSETS]]
    more = len(notification.assets) - len(listed)
    assets = ", ".join([*listed, *([f"{more} more"] if more else [])])
    named = [("Severity", notification.severity), ("State", incident_of(notification).state), ("Assets", assets)]
    return [(name, legible(value)) for name, value in named if value]
