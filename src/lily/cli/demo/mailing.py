"""The database of the enforcement steps: a mailing list in the stack's own PostgreSQL, and people who log in to it."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import errors, sql

from lily.embedded.bootstrap import url_for_role

DATABASE, OWNER = "mailing", "mailing_owner"
LILY, ANALYST, OFFICER = "mailing_lily", "mailing_analyst", "mailing_officer"
LOGINS = (OWNER, LILY, ANALYST, OFFICER)
REFUSED, MISSING = "refused", "missing"
EMAIL = "lea.vogt@example.org"

TABLES = """
create table subscribers (id int primary key, email text, country text);
insert into subscribers values (1, '{email}', 'DE'), (2, 'max@example.org', 'FR');
grant select on subscribers to {analyst}, {officer};
"""
DROP_MASK = "drop view public_masked.subscribers"
LEFT_BY_LILY = "select count(*) from pg_namespace where nspname in ('public_masked', 'lily_enforcement')"


@dataclass(frozen=True, slots=True)
class Login:
    """A person's connection."""

    connection: psycopg.Connection[Any]

    def read(self, query: str) -> str:
        """Returns the first value, REFUSED, or MISSING for a table that is not there."""
        try:
            row = self.connection.execute(query.encode()).fetchone()
        except errors.InsufficientPrivilege:
            return REFUSED
        except errors.UndefinedTable:
            return MISSING
        return str(row[0]) if row else ""


@dataclass(frozen=True, slots=True)
class Mailing:
    """`url` is the superuser's. The passwords follow from the secret, so every step knows them and nobody else."""

    url: str
    secret: str

    def create(self) -> None:
        with self._server() as server:
            for name in LOGINS:
                login = sql.SQL("create role {} login password {}")
                server.execute(login.format(sql.Identifier(name), sql.Literal(self._password(name))))
            server.execute(sql.SQL("create database {} owner {}").format(*map(sql.Identifier, (DATABASE, OWNER))))
            # What a role for Lily needs, as docs/how-to/enforce-in-postgresql.md states it.
            server.execute(sql.SQL("grant {} to {}").format(*map(sql.Identifier, (OWNER, LILY))))
            allowed = sql.SQL("grant create on database {} to {}")
            server.execute(allowed.format(*map(sql.Identifier, (DATABASE, LILY))))
        with self.login(OWNER) as owner:
            owner.connection.execute(TABLES.format(email=EMAIL, analyst=ANALYST, officer=OFFICER).encode())

    def drop(self) -> None:
        """Also what an interrupted run has left."""
        with self._server() as server:
            server.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(DATABASE)))
            for name in reversed(LOGINS):
                server.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(name)))

    def exists(self) -> bool:
        with self._server() as server:
            return bool(server.execute("select from pg_database where datname = %s", [DATABASE]).rowcount)

    def url_of(self, name: str) -> str:
        place = urlunsplit(urlsplit(self.url)._replace(path=f"/{DATABASE}"))
        return url_for_role(place, name, self._password(name))

    @contextmanager
    def login(self, name: str) -> Iterator[Login]:
        with psycopg.connect(self.url_of(name), autocommit=True) as connection:
            yield Login(connection)

    def drop_mask(self) -> None:
        """As someone who repairs the database by hand would. The view belongs to Lily's role."""
        with self.login(LILY) as lily:
            lily.connection.execute(DROP_MASK)

    def schemas_of_lily(self) -> int:
        with self.login(OWNER) as owner:
            row = owner.connection.execute(LEFT_BY_LILY).fetchone()
            return int(row[0]) if row else 0

    @contextmanager
    def _server(self) -> Iterator[psycopg.Connection[Any]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            yield connection

    def _password(self, name: str) -> str:
        return hashlib.sha256(f"{self.secret}/{name}".encode()).hexdigest()
