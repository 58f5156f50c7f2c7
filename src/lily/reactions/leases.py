"""Shares the partitions of a reaction between workers, by advisory locks in PostgreSQL.

A lock belongs to a connection and ends with it, so a killed worker's partitions are free at once, and a worker that
lost its connection cannot commit for a partition that another one has taken over.
"""

import math
import zlib
from collections.abc import Sequence
from typing import Any

from psycopg import Connection

from lily.model.records import Partition
from lily.store.postgres.queries import query

_LEASE, _MEMBER = 0x6C65, 0x6C6D  # "le" and "lm"


class Leases:
    """The partitions that one connection holds for one reaction."""

    def __init__(self, connection: Connection[Any], reaction: str) -> None:
        self._connection, self._reaction = connection, reaction
        self.held: list[Partition] = []
        self._member = {"class": _MEMBER, "key": _key(reaction)}
        connection.execute("select pg_advisory_lock_shared(%(class)s, %(key)s)", self._member)

    def balance(self, partitions: Sequence[Partition]) -> bool:
        """Takes or gives back partitions so that every worker holds its share; returns whether that changed any."""
        before = list(self.held)
        share = math.ceil(len(partitions) / self._members())
        while len(self.held) > share:
            self._connection.execute("select pg_advisory_unlock(%s, %s)", self._lock(self.held.pop()))
        for partition in partitions:
            if len(self.held) >= share:
                break
            if partition not in self.held and self._take(partition):
                self.held.append(partition)
        return self.held != before

    def _members(self) -> int:
        row = self._connection.execute(query("reactions/members"), self._member).fetchone()
        return max(int(row[0]) if row else 0, 1)

    def _take(self, partition: Partition) -> bool:
        row = self._connection.execute("select pg_try_advisory_lock(%s, %s)", self._lock(partition)).fetchone()
        return bool(row and row[0])

    def _lock(self, partition: Partition) -> tuple[int, int]:
        topic, number = partition
        return _LEASE, _key(f"{self._reaction}/{topic}/{number}")


def _key(text: str) -> int:
    """A signed 32-bit number, as PostgreSQL's two-part locks take it."""
    return zlib.crc32(text.encode()) - (1 << 31)
