"""The database roles of the API and the pipeline. Neither owns a table nor bypasses row-level security."""

import psycopg
from psycopg import sql

from lily.model.errors import Terminal

ROLES = ("lily_api", "lily_pipeline")


def ensure_role(connection: psycopg.Connection, role: str, password: str) -> None:
    """Creates the role, or sets the password of an existing one. Raises Terminal if the owner is not allowed to."""
    try:
        connection.execute(_statement(connection, role, password))
        # Times are read as UTC whatever the server's time zone is: with another zone the year 1 could become 1 BC.
        connection.execute(sql.SQL("alter role {} set timezone to 'UTC'").format(sql.Identifier(role)))
    except psycopg.errors.InsufficientPrivilege as error:
        raise Terminal(
            f"The database's owner is not allowed to create or alter the role {role}: {error}. As a superuser, run "
            f"`ALTER ROLE owner CREATEROLE`, and `GRANT {role} TO owner WITH ADMIN OPTION` if the role exists."
        ) from error


def _statement(connection: psycopg.Connection, role: str, password: str) -> sql.Composed:
    found = connection.execute("select rolsuper or rolbypassrls from pg_roles where rolname = %s", [role]).fetchone()
    # Only a superuser may set these attributes of an existing role, even to their defaults; the owner may not be one.
    limits = "" if found == (False,) else "nosuperuser nobypassrls"
    return sql.SQL("{verb} role {role} login {limits} password {password}").format(
        verb=sql.SQL("alter" if found else "create"),
        role=sql.Identifier(role),
        limits=sql.SQL(limits),
        password=sql.Literal(password),
    )
