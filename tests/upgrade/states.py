"""Databases as earlier versions of Lily left them, with the data of their time."""

from dataclasses import dataclass
from pathlib import Path

import psycopg

from lily.store.postgres.migrations.ledger import Ledger
from lily.store.postgres.migrations.runner import SHIPPED
from lily.store.postgres.migrations.scripts import Script, read_schema

ROWS = Path(__file__).parent / "rows"  # one file for each migration: what a database held before the next one
MIGRATIONS = read_schema(SHIPPED).migrations
NAMES_ONLY = "create table migrations (name text primary key, applied_at timestamptz not null default now())"
BEFORE_CHECKSUMS = 4  # the newest migration of versions that recorded names only


@dataclass(frozen=True)
class State:
    """The first migrations, as many as `count`. Their functions are those of the migrations themselves."""

    count: int
    checksums: bool

    def __str__(self) -> str:
        return f"after {MIGRATIONS[self.count - 1].name}, {'with' if self.checksums else 'without'} checksums"


STATES = (
    *(State(count, checksums=False) for count in range(1, BEFORE_CHECKSUMS + 1)),
    *(State(count, checksums=True) for count in range(BEFORE_CHECKSUMS, len(MIGRATIONS) + 1)),
)


def build(owner_url: str, state: State) -> None:
    """Migrates step by step, and lives in the database between the steps."""
    with psycopg.connect(owner_url) as connection:
        connection.execute(NAMES_ONLY)
        for script in MIGRATIONS[: state.count]:
            connection.execute(script.body)
            connection.execute("insert into migrations (name) values (%s)", [script.name])
            connection.execute((ROWS / script.name).read_bytes())
        if state.checksums:
            ledger = Ledger(connection)
            ledger.pending(MIGRATIONS)
            ledger.replace([Script("10_tenant.sql", b"as it was then")])
