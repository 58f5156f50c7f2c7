"""What the sender of an event may delete, and which columns it may state that a rename moves."""

from collections.abc import Mapping
from typing import Any

from psycopg import Connection

from lily.model.edges import ClaimsEvent
from lily.reactions.run_queries.sender_policies import policies_of
from lily.store.postgres.table_changes.ledger import TableLedger


class MoveRights:
    def __init__(self, connection: Connection[Any], event: ClaimsEvent) -> None:
        self._connection, self._event = connection, event

    def permitted(self, origins: Mapping[str, str]) -> set[str]:
        """Those of the new columns that the sender may state: it may write them, and read and write what they were
        before. `origins` has the earlier name of each. To state others would show them to it under another name."""
        limits = self._event.tables.limits
        if limits is None or limits.sender is None or not origins:
            return set(origins)
        policies = policies_of(self._connection, self._event.tenant, limits.sender)
        old = dict.fromkeys(origins.values(), "column")
        open_before = policies.permitted("READ", old) & policies.permitted("WRITE", old)
        writable = policies.permitted("WRITE", dict.fromkeys(origins, "column"))
        return {new for new, before in origins.items() if new in writable and before in open_before}


class DeletionRights:
    def __init__(self, connection: Connection[Any], event: ClaimsEvent) -> None:
        self._connection, self._event = connection, event

    def permitted(self, kinds: Mapping[str, str], tables: Mapping[str, str]) -> set[str]:
        """Those of the names that the sender may delete. `kinds` has the type of each, `tables` the table of each
        column: what it may not do to the table it may not do to the column. A column that only the lake has has no
        history, but its table has."""
        asked = dict.fromkeys(tables.values(), "table") | dict(kinds)
        refused = self._of_others(asked) | self._denied(asked)
        return {name for name in kinds if refused.isdisjoint({name, tables.get(name, name)})}

    def _of_others(self, names: Mapping[str, str]) -> set[str]:
        limits = self._event.tables.limits
        if limits is None or not limits.own_only:
            return set()
        return TableLedger(self._connection, self._event.tenant).stated_by_others(names, self._event.by)

    def _denied(self, kinds: Mapping[str, str]) -> set[str]:
        """By a policy, as DELETE or as WRITE."""
        limits = self._event.tables.limits
        if limits is None or limits.sender is None or not kinds:
            return set()
        policies = policies_of(self._connection, self._event.tenant, limits.sender)
        return set(kinds) - (policies.permitted("DELETE", kinds) & policies.permitted("WRITE", kinds))
