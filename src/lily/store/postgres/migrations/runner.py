"""Migrates a database to the newest schema, in one transaction."""

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

import psycopg

from lily.model.errors import Terminal
from lily.store.postgres.migrations.ledger import Ledger
from lily.store.postgres.migrations.roles import ROLES, ensure_role
from lily.store.postgres.migrations.scripts import Schema, Script, read_schema

SHIPPED = resources.files(__package__)
OLDEST_SERVER = 180000  # PostgreSQL 18 introduced RETURNING old and new
LOCK = 0x6C696C79  # "lily": an arbitrary number that all versions share


class MigrationFailed(Terminal):
    """PostgreSQL refused a script. The database is unchanged."""


def migrate(owner_url: str, role_passwords: Mapping[str, str], folder: Traversable = SHIPPED) -> list[str]:
    """Applies the scripts that the database lacks and returns their names.

    Idempotent, and safe to run twice at the same time: the second run waits and has nothing to do. Raises
    SchemaMismatch if the database was migrated with other files than these, MigrationFailed if PostgreSQL refuses a
    script, and psycopg.OperationalError if the server cannot be reached; each leaves the database unchanged.
    """
    schema = read_schema(folder)
    with psycopg.connect(owner_url) as connection:
        _require_server(connection.info.server_version)
        connection.execute("select pg_advisory_xact_lock(%s)", [LOCK])
        for role in ROLES:
            ensure_role(connection, role, role_passwords[role])
        return _apply(connection, schema)


def _apply(connection: psycopg.Connection, schema: Schema) -> list[str]:
    ledger = Ledger(connection)
    pending = ledger.pending(schema.migrations)
    for script in pending:
        _run(connection, script)
        ledger.record(script)
    if not pending and ledger.holds(schema.functions):
        return []
    # All functions, also unchanged ones: a migration may have dropped one together with something it depends on.
    for script in schema.functions:
        _run(connection, script)
    ledger.replace(schema.functions)
    return [script.name for script in (*pending, *schema.functions)]


def _run(connection: psycopg.Connection, script: Script) -> None:
    try:
        connection.execute(script.body)
    except psycopg.OperationalError:
        raise  # the server failed, not the script: the same call may succeed later
    except psycopg.Error as error:
        raise MigrationFailed(
            f"{script.name} could not be applied: {error}. The database is unchanged. If its schema was changed by "
            "hand, undo that. Otherwise return to the previous version of Lily and report this message."
        ) from error


def _require_server(version: int) -> None:
    if version < OLDEST_SERVER:
        raise Terminal(
            f"Lily requires PostgreSQL 18 or newer; this server is version {version // 10000}. "
            "Upgrade it, or leave LILY_DATABASE_URL unset to use the embedded one."
        )
