"""The feed reaction: announces the assets that gained or lost a tag by propagation. The worked example of a reaction.

Propagation publishes ids and the folded tag. A listener filters by type and name and wants to know the cause, so this
looks those up and writes an announcement to the outbox. The relay publishes it on `notification-events`, from where the
API sends one message for each asset.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from psycopg import Connection

from lily.bus import topics
from lily.reactions.base import Event
from lily.store.postgres.outbox.announcements import Announcements

CHANGES = {"added": "tagged", "removed": "untagged"}


class Feed:
    name = "feed"
    topics = (topics.PROPAGATED,)

    def __init__(self) -> None:
        self._announcements: Announcements | None = None

    def open(self, connection: Connection[Any]) -> None:
        self._announcements = Announcements(connection)

    def handle(self, tenant: str, events: Sequence[Event]) -> None:
        assert self._announcements is not None  # noqa: S101 - the runner opens a reaction before it handles anything
        for event in events:
            envelope = orjson.loads(event.value)
            data, change = envelope["data"], CHANGES.get(envelope["data"]["change"])
            if change is not None and data["assets"]:
                # The relay publishes at least once: a repeated event has the same id.
                self._announcements.announce(
                    tenant, envelope["id"], change, tag=data["tag"], root=data["root"], assets=data["assets"]
                )
