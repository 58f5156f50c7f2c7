"""What a process reads to decide: versions, what it compiles, and users."""

from collections.abc import Collection
from typing import Any, NamedTuple

from lily.model.errors import Terminal
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches

Object = dict[str, Any]


class NoVersion(Terminal):
    """The tenant has no row in `access_versions`, which every tenant gets when it is created."""


class Version(NamedTuple):
    """`number` counts every change; `compiled` is that of the last one that is compiled. `settings` None: defaults."""

    number: int
    compiled: int
    settings: Object | None


class Stored(NamedTuple):
    """An object as stored. The body is None if the caller has it: its version is not newer than the known one."""

    kind: str
    key: str
    version: int
    body: Object | None


class Snapshot(NamedTuple):
    version: Version
    objects: list[Stored]


async def read_version(database: Fetches, tenant: str) -> Version:
    rows = await database.fetch(tenant, query("policies/snapshot/version"), {})
    if not rows:
        raise _no_version(tenant)
    return Version(*rows[0])


async def read_snapshot(database: Fetches, tenant: str, known: int) -> Snapshot:
    """Everything that is compiled, of one moment. `known` is the version of which the caller has all bodies."""
    rows = await database.fetch(tenant, query("policies/snapshot/load"), {"known": known})
    if not rows:
        raise _no_version(tenant)
    _, _, number, (compiled, settings) = rows[0]
    return Snapshot(Version(number, compiled, settings), [Stored(*row) for row in rows[1:]])


async def read_users(database: Fetches, tenant: str, keys: Collection[str]) -> dict[str, tuple[Object | None, bool]]:
    """By key: the user as stored, and whether it is disabled. Users that are neither are left out."""
    rows = await database.fetch(tenant, query("policies/snapshot/users"), {"keys": list(keys)})
    return {key: (body, disabled) for key, body, disabled in rows}


async def first_users(database: Fetches, tenant: str, limit: int) -> tuple[list[Object], int]:
    """The first users by name, and how many there are."""
    rows = await database.fetch(tenant, query("policies/snapshot/all_users"), {"limit": limit})
    return [body for body, _ in rows], rows[0][1] if rows else 0


def _no_version(tenant: str) -> NoVersion:
    return NoVersion(f"The tenant {tenant} has no version of its policies. Run the migration of the database again.")
