"""The tables whose rows are encrypted under the master key. A new one is one line here."""

from typing import Any, NamedTuple

from psycopg import Connection

from lily.model.errors import Terminal
from lily.store.postgres.queries import query


class SealedTable(NamedTuple):
    """`key` is the column that identifies a row within its tenant. What is encrypted is bound to tenant and name: the
    key with this prefix."""

    table: str
    key: str
    prefix: str = ""


SEALED = (
    SealedTable("secrets", "name"),
    SealedTable("enforcement_targets", "key", "enforcement/"),
    SealedTable("notification_channels", "key", "channel/"),
)


def sealed_tables(connection: Connection[Any]) -> list[SealedTable]:
    """Those that this database has. Raises Terminal if it has one that is not listed: its rows would be lost with the
    old key."""
    stored = {name for (name,) in connection.execute(query("keys/tables"))}
    if unknown := sorted(stored - {one.table for one in SEALED}):
        raise Terminal(
            f"The tables {', '.join(unknown)} have encrypted rows that this version of Lily does not know. "
            "Rotate with the version that migrated the database."
        )
    return [one for one in SEALED if one.table in stored]
