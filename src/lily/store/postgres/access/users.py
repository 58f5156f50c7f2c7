"""Users who are kept out at once, whatever tokens they have: API tokens and access tokens of an identity provider."""

from typing import LiteralString, NamedTuple

import psycopg

from lily.model.errors import Terminal
from lily.model.values import MAX_NAME, Checker
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


class UserState(NamedTuple):
    tenant_exists: bool
    disabled: bool


async def user_state(database: Database, tenant: str, user: str) -> UserState:
    """Raises StoreUnavailable."""
    (row,) = await database.fetch(tenant, query("access/user_state"), {"user": user})
    return UserState(*row)


def disable_user(owner_url: str, tenant: str, user: str) -> bool:
    """Keeps the user out from now on: every API process is notified, and open WebSockets are closed. The user need not
    be known. Returns False if the user was disabled already. Raises Terminal."""
    return _change(owner_url, query("access/disable_user"), tenant, user)


def enable_user(owner_url: str, tenant: str, user: str) -> bool:
    """Returns False if the user was not disabled. Raises Terminal."""
    return _change(owner_url, query("access/enable_user"), tenant, user)


def _change(owner_url: str, statement: LiteralString, tenant: str, user: str) -> bool:
    if Checker().name(user, "user") != user:
        raise Terminal(
            f"{user[:64]!r} is not a valid user name. Use up to {MAX_NAME} bytes without control characters."
        )
    with psycopg.connect(owner_url) as connection:
        try:
            changed = connection.execute(statement, {"tenant": tenant, "user": user}).fetchone() is not None
        except psycopg.errors.ForeignKeyViolation as error:
            raise Terminal(f"There is no tenant {tenant!r}. `lily tenant list` shows the tenants.") from error
        connection.execute("select pg_notify('lily_access', '')")
    return changed
