"""Users who are kept out at once, whatever tokens they have: API tokens and access tokens of an identity provider."""

from datetime import datetime
from typing import Literal, NamedTuple

import psycopg

from lily.model.access import Principal
from lily.model.errors import Terminal
from lily.model.values import MAX_NAME, Checker
from lily.store.postgres.access.changes import DISABLED_USER, OWNER, change_statement
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Fetches

Change = Literal["user.disabled", "user.enabled"]
ADMINISTRATOR = ""  # instead of a directory


class UserState(NamedTuple):
    tenant_exists: bool
    disabled: bool


async def user_state(database: Database, tenant: str, user: str) -> UserState:
    """Raises StoreUnavailable."""
    (row,) = await database.fetch(tenant, query("access/user_state"), {"user": user})
    return UserState(*row)


async def disabled_since(database: Database, tenant: str, user: str) -> datetime | None:
    """None if the user is not disabled. Raises StoreUnavailable."""
    rows = await database.fetch(tenant, query("access/disabled_since"), {"user": user})
    return rows[0][0] if rows else None


async def change_user(
    database: Fetches, principal: Principal, change: Change, user: str, *, source: str = ADMINISTRATOR
) -> bool:
    """Disables or enables a user of the principal's tenant. `source` is the directory that does it, which enables only
    whom it disabled. Returns False if that changed nothing. Raises what `database` raises."""
    values = {"user": user, "by": principal.name, "action": change, "kind": DISABLED_USER, "source": source}
    ((changed, _),) = await database.fetch(principal.tenant, change_statement(change), values)
    return bool(changed)


def disable_user(owner_url: str, tenant: str, user: str, by: str = OWNER) -> bool:
    """Keeps the user out from now on: every API process is notified, and open WebSockets are closed. The user need not
    be known. Returns False if the user was disabled already. Raises Terminal."""
    return _change(owner_url, "user.disabled", tenant, user, by)


def enable_user(owner_url: str, tenant: str, user: str, by: str = OWNER) -> bool:
    """Returns False if the user was not disabled. Raises Terminal."""
    return _change(owner_url, "user.enabled", tenant, user, by)


def _change(owner_url: str, change: Change, tenant: str, user: str, by: str) -> bool:
    if not is_user_name(user):
        raise Terminal(
            f"{user[:64]!r} is not a valid user name. Use up to {MAX_NAME} bytes without control characters."
        )
    stated = {"by": by, "action": change, "kind": DISABLED_USER, "source": ADMINISTRATOR}
    values = {"tenant": tenant, "user": user, **stated}
    with psycopg.connect(owner_url) as connection:
        try:
            row = connection.execute(change_statement(change), values).fetchone()
        except psycopg.errors.ForeignKeyViolation as error:
            raise Terminal(f"There is no tenant {tenant!r}. `lily tenant list` shows the tenants.") from error
    return row is not None and bool(row[0])


def is_user_name(name: str) -> bool:
    return Checker().name(name, "user") == name
