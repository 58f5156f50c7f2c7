"""Brings a database to the newest schema, in one transaction: all of it, or nothing."""

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

import psycopg

from lily.model.errors import Terminal
from lily.store.postgres.migrations.ledger import Ledger
from lily.store.postgres.migrations.roles import ROLES, ensure_role
from lily.store.postgres.migrations.scripts import Schema, Script, read_schema

SHIPPED = resources.files(__package__)
OLDEST_SERVER = 180000  # MERGE … RETURNING old and new came with PostgreSQL 18
LOCK = 0x6C696C79  # "lily": any number, as long as every Lily takes the same


class MigrationFailed(Terminal):
    """PostgreSQL refused a script. The database is as it was."""


def migrate(owner_url: str, role_passwords: Mapping[str, str], folder: Traversable = SHIPPED) -> list[str]:
    """Applies what the database lacks and returns the names of those scripts.

    Idempotent, and safe to run from two places at once: the second waits and finds nothing to do. Raises SchemaMismatch
    where the database was migrated with other files than these, MigrationFailed where PostgreSQL refuses one, and
    psycopg.OperationalError where the server cannot be reached; each leaves the database as it was.
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
    # All of them, also those that did not change: a migration may have dropped one together with what it depends on.
    for script in schema.functions:
        _run(connection, script)
    ledger.replace(schema.functions)
    return [script.name for script in (*pending, *schema.functions)]


def _run(connection: psycopg.Connection, script: Script) -> None:
    try:
        connection.execute(script.body)
    except psycopg.OperationalError:
        raise  # the server's state, not the script's: the same call may succeed later
    except psycopg.Error as error:
        raise MigrationFailed(
            f"{script.name} could not be applied: {error}. The database is as it was. If its schema was changed by "
            "hand, undo that; otherwise go back to the version of Lily that you had and report this message."
        ) from error


def _require_server(version: int) -> None:
    if version < OLDEST_SERVER:
        raise Terminal(
            f"Lily needs PostgreSQL 18 or newer, and this server is {version // 10000}. "
            "Upgrade it, or leave LILY_DATABASE_URL unset to use the embedded one."
        )
