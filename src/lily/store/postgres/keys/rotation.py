"""Re-encrypts what is encrypted under the master key, in bounded transactions, while others read and write."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from psycopg import Connection, sql

from lily.model.errors import Terminal, Transient
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.keys.sealed_tables import SealedTable, sealed_tables
from lily.store.postgres.queries import query

BATCH = 200  # rows of one transaction
_LOCK = 0x6C6B  # "lk": one rotation at a time


class Row(NamedTuple):
    table: SealedTable
    tenant: str
    key: str
    wrapped_key: bytes
    sealed: bytes

    @property
    def name(self) -> str:
        return f"{self.table.prefix}{self.key}"

    def __str__(self) -> str:
        return f"{self.table.table} {self.tenant}/{self.key}"


@dataclass(slots=True)
class Survey:
    """`rows` of all, `stale` are under an older key, `unreadable` under none of the keys."""

    rows: int = 0
    stale: int = 0
    unreadable: list[str] = field(default_factory=list)


class RotationRunning(Transient):
    """Another rotation has the lock."""


def fingerprint(key: bytes) -> str:
    """Names a key without disclosing it."""
    return hashlib.sha256(b"lily/master-key/" + key).hexdigest()[:12]


class Rotation:
    """On a connection of the owner, in autocommit mode. The first key encrypts, all decrypt."""

    def __init__(self, connection: Connection[Any], keys: Sequence[bytes], by: str) -> None:
        self._connection, self._by = connection, by
        self._newest, self._all = Vault(keys[0]), Vault(*keys)
        self._key = fingerprint(keys[0])
        self._tables = sealed_tables(connection)

    def survey(self) -> Survey:
        """Reads everything and changes nothing."""
        found = Survey()
        for page in self._pages():
            found.rows += len(page)
            for row in page:
                if not _opens(self._newest, row):
                    found.stale += 1
                    found.unreadable += [] if _opens(self._all, row) else [str(row)]
        return found

    def reseal(self, on_progress: Callable[[int], None] = lambda _: None) -> int:
        """Encrypts every row that is under an older key anew, with a new data key. Returns how many it changed; a row
        that no key decrypts stays as it is. Interrupted, it is continued by the next call."""
        changed = 0
        for page in self._pages():
            stale = [row for row in page if not _opens(self._newest, row) and _opens(self._all, row)]
            changed += self._reseal(stale) if stale else 0
            on_progress(changed)
        return changed

    def _reseal(self, rows: Sequence[Row]) -> int:
        done: Counter[tuple[str, str]] = Counter()
        with self._connection.transaction():
            for row in rows:
                secret = self._all.open(row.tenant, row.name, row.wrapped_key, row.sealed)
                wrapped_key, sealed = self._newest.seal(row.tenant, row.name, secret)
                identity = {"tenant": row.tenant, "key": row.key, "before": row.wrapped_key}
                changed = self._connection.execute(
                    _statement("reseal", row.table), {**identity, "wrapped_key": wrapped_key, "sealed": sealed}
                )
                done[row.tenant, row.table.table] += changed.rowcount
            for (tenant, table), count in done.items():
                audited = {"tenant": tenant, "by": self._by, "table": table, "rows": count, "key": self._key}
                self._connection.execute(query("keys/audit"), audited)
        return done.total()

    def _pages(self) -> Iterator[list[Row]]:
        for table in self._tables:
            after = ("", "")
            while page := self._page(table, after):
                after = (page[-1].tenant, page[-1].key)
                yield page

    def _page(self, table: SealedTable, after: tuple[str, str]) -> list[Row]:
        parameters = {"tenant": after[0], "after": after[1], "limit": BATCH}
        return [Row(table, *row) for row in self._connection.execute(_statement("page", table), parameters)]


@contextmanager
def one_rotation(connection: Connection[Any]) -> Iterator[None]:
    """Raises RotationRunning if another one runs. The lock ends with the connection."""
    row = connection.execute("select pg_try_advisory_lock(%s)", [_LOCK]).fetchone()
    if row is None or not row[0]:
        raise RotationRunning("Another `lily keys rotate` is running. Wait until it is done.")
    try:
        yield
    finally:
        if not connection.broken:
            connection.execute("select pg_advisory_unlock(%s)", [_LOCK])


def _opens(vault: Vault, row: Row) -> bool:
    try:
        vault.open(row.tenant, row.name, row.wrapped_key, row.sealed)
    except Terminal:
        return False
    return True


@cache
def _statement(name: str, table: SealedTable) -> sql.Composed:
    return sql.SQL(query(f"keys/{name}")).format(table=sql.Identifier(table.table), key=sql.Identifier(table.key))
