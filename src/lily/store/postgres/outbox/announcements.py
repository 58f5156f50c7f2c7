"""Writes announcements to the outbox: assets that gained or lost a tag by propagation, with the cause."""

from collections.abc import Sequence
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query


class Announcements:
    """Runs in the caller's transaction. One outbox batch per announcement, with at most a thousand assets."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def announce(self, tenant: str, event: str, change: str, *, tag: str, root: str, assets: Sequence[str]) -> None:
        """Announces an event, by its id, once: a repetition does nothing. `root` is the asset whose change caused it.
        The cause shows the origin from which the root has the tag, or the root itself if it no longer has the tag."""
        parameters = {"tenant": tenant, "tag": tag, "root": root, "ids": id_array(assets)}
        ((name, origin),) = self._connection.execute(query("outbox/announced_tag"), parameters).fetchall()
        rows = self._connection.execute(query("outbox/announced_assets"), parameters).fetchall()
        body = {
            "change": change,
            "root": root,
            "cause": {"tag": name, "origin": origin, "layer": "propagated"},
            "assets": [list(row) for row in rows],
        }
        self._connection.execute(
            query("outbox/insert_announcement"), {"tenant": tenant, "event": event, "body": Jsonb(body)}
        )
        self._connection.execute("select pg_notify('lily_applied', '')")
