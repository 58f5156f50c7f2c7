"""The record of the scripts that were applied to a database, with their checksums."""

from collections.abc import Iterable, Mapping, Sequence

import psycopg

from lily.model.errors import Terminal
from lily.store.postgres.migrations.scripts import Script


class SchemaMismatch(Terminal):
    """The database was migrated with other files than those of this installation. Nothing was changed."""


class Ledger:
    """The tables `migrations` and `functions_applied`. Runs in the caller's transaction."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        connection.execute(
            "create table if not exists migrations "
            "(name text primary key, applied_at timestamptz not null default now());"
            # Null only in databases that are older than checksums, until `pending` fills it in.
            "alter table migrations add column if not exists checksum text;"
            "create table if not exists functions_applied "
            "(name text primary key, applied_at timestamptz not null default now(), checksum text not null)"
        )

    def pending(self, migrations: Sequence[Script]) -> list[Script]:
        """The migrations that have not been applied. Raises SchemaMismatch unless the applied ones are the first of
        these, unchanged."""
        recorded: dict[str, str | None] = dict(self._connection.execute("select name, checksum from migrations"))
        _verify(recorded, migrations)
        for script in migrations:
            if script.name in recorded and recorded[script.name] is None:
                self._connection.execute(
                    "update migrations set checksum = %s where name = %s", [script.checksum, script.name]
                )
        return [script for script in migrations if script.name not in recorded]

    def record(self, migration: Script) -> None:
        self._connection.execute(
            "insert into migrations (name, checksum) values (%s, %s)", [migration.name, migration.checksum]
        )

    def holds(self, functions: Iterable[Script]) -> bool:
        """Whether exactly these functions were applied last."""
        recorded: dict[str, str] = dict(self._connection.execute("select name, checksum from functions_applied"))
        return recorded == {script.name: script.checksum for script in functions}

    def replace(self, functions: Iterable[Script]) -> None:
        self._connection.execute("delete from functions_applied")
        self._connection.cursor().executemany(
            "insert into functions_applied (name, checksum) values (%s, %s)",
            [(script.name, script.checksum) for script in functions],
        )


def _verify(recorded: Mapping[str, str | None], migrations: Sequence[Script]) -> None:
    known = {script.name: script for script in migrations}
    newest_known, newest_recorded = max(known, default=""), max(recorded, default="")
    for name, checksum in sorted(recorded.items()):
        if name > newest_known:
            raise SchemaMismatch(
                f"This database is newer than this version of Lily: it has the migration {name}, and the newest one "
                f"here is {newest_known or 'none'}. Start a version of Lily that has {name}, or restore a backup from "
                "before it was applied."
            )
        if name not in known:
            raise SchemaMismatch(
                f"The migration {name} was applied to this database, but its file is missing from this installation. "
                "Restore the file, or install Lily again."
            )
        if checksum not in {None, known[name].checksum}:
            raise SchemaMismatch(
                f"The file of the migration {name} has changed since it was applied to this database: its checksum was "
                f"{checksum} and is {known[name].checksum} now. Restore the file, or install Lily again; a change of "
                "the schema belongs in a new migration."
            )
    for name in known:
        if name < newest_recorded and name not in recorded:
            raise SchemaMismatch(
                f"The migration {name} comes before {newest_recorded}, which was applied to this database without it. "
                f"Give it a number after {newest_recorded}."
            )
