"""Writes announcements to the outbox: assets that gained or lost a tag by propagation, and why."""

from collections.abc import Sequence
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query


class Announcements:
    """Works in the caller's transaction. One batch of the outbox for each announcement: at most a thousand assets."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def announce(self, tenant: str, change: str, *, tag: str, root: str, assets: Sequence[str]) -> None:
        """`root` is the asset whose change caused it. Its origin of the tag is the cause that is shown; where the tag
        is gone from the root, the root itself is."""
        about = {"tenant": tenant, "tag": tag, "root": root, "ids": id_array(assets)}
        ((name, origin),) = self._connection.execute(query("outbox/announced_tag"), about).fetchall()
        rows = self._connection.execute(query("outbox/announced_assets"), about).fetchall()
        body = {
            "change": change,
            "root": root,
            "cause": {"tag": name, "origin": origin, "layer": "propagated"},
            "assets": [list(row) for row in rows],
        }
        self._connection.execute(query("outbox/announce"), {"tenant": tenant, "body": Jsonb(body)})
        self._connection.execute("select pg_notify('lily_applied', '')")
