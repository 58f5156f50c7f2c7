"""Brings a database to the newest schema: the numbered `.sql` files beside this one, each once, in order."""

from importlib import resources

import psycopg
from psycopg import sql

from lily.model.errors import Terminal

ROLES = ("lily_api", "lily_pipeline")
OLDEST_SERVER = 180000  # MERGE … RETURNING old and new came with PostgreSQL 18
_LOCK = 0x6C696C79  # "lily": any number, as long as every Lily takes the same


def migrate(owner_url: str, role_passwords: dict[str, str]) -> None:
    """Idempotent, and safe to run from two places at once: the second waits and finds nothing to do."""
    with psycopg.connect(owner_url) as connection:
        if connection.info.server_version < OLDEST_SERVER:
            raise Terminal(
                f"Lily needs PostgreSQL 18 or newer, and this server is {connection.info.server_version // 10000}. "
                "Upgrade it, or leave LILY_DATABASE_URL unset to use the embedded one."
            )
        connection.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
        for role in ROLES:
            _ensure_role(connection, role, role_passwords[role])
        _apply_pending(connection)


def _ensure_role(connection: psycopg.Connection, role: str, password: str) -> None:
    exists = connection.execute("select 1 from pg_roles where rolname = %s", [role]).fetchone()
    statement = "alter role {} " if exists else "create role {} "
    connection.execute(
        sql.SQL(statement + "login nosuperuser nobypassrls password {}").format(
            sql.Identifier(role), sql.Literal(password)
        )
    )
    # Times are read as UTC wherever the server stands: elsewhere the year 1 would begin before Christ.
    connection.execute(sql.SQL("alter role {} set timezone to 'UTC'").format(sql.Identifier(role)))


def _apply_pending(connection: psycopg.Connection) -> None:
    connection.execute(
        "create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())"
    )
    done = {name for (name,) in connection.execute("select name from migrations")}
    files = [file for file in resources.files(__package__).iterdir() if file.name.endswith(".sql")]
    for file in sorted(files, key=lambda file: file.name):
        if file.name not in done:
            connection.execute(file.read_text().encode())
            connection.execute("insert into migrations (name) values (%s)", [file.name])
