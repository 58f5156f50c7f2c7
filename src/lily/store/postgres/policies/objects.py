"""Changes and reads of administrative objects: policies, roles, users, scraper policies, engine mappings, settings.

Each change is one statement that changes the row, increments the tenant's version, records the state in the history,
queues the change for publication, audits it and notifies the processes that decide.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

from psycopg import sql
from psycopg.types.json import Jsonb

from lily.model.access import Principal
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Fetches

Kind = Literal["policy", "role", "user", "scraper-policy", "engine-mapping", "access-settings"]
Change = Literal["create", "replace", "put", "delete"]
Object = dict[str, Any]

_TABLES: Mapping[Kind, str] = {
    "policy": "policies",
    "role": "roles",
    "user": "users",
    "scraper-policy": "scraper_policies",
    "engine-mapping": "engine_mappings",
    "access-settings": "access_settings",
}
_ACTIONS: Mapping[Change, str] = {"create": "created", "replace": "replaced", "put": "changed", "delete": "deleted"}
_LOOKED_UP = frozenset({"user", "access-settings"})  # read when they are needed, not compiled
MAX_NAMING = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """An object to store: its folded id or name, its body, and the keys of the subjects and tags that it names."""

    kind: Kind
    key: str
    body: Object
    names: Sequence[str] = ()


class Changed(NamedTuple):
    """`version` is the tenant's before the change. Nothing was found or created if `done` is false."""

    version: int
    done: bool
    before: Object | None
    after: Object | None


class Naming(NamedTuple):
    """Who names a subject: pairs of kind and id or name, at most MAX_NAMING, and how many there are."""

    items: list[tuple[str, str]]
    total: int


async def change(
    database: Fetches,
    principal: Principal,
    how: Change,
    entry: Entry,
    *,
    correlation: str,
    expected: int | None = None,
) -> Changed:
    """Changes one object. With `expected`, does nothing if the tenant's version is another one by now."""
    parameters = {
        "key": entry.key,
        "body": Jsonb(entry.body),
        "names": list(entry.names),
        "expected": expected,
        "kind": entry.kind,
        "compiled": entry.kind not in _LOOKED_UP,
        "by": principal.name,
        "action": f"{entry.kind}.{_ACTIONS[how]}",
        "correlation": correlation,
    }
    ((version, done, before, after, _, _),) = await database.fetch(
        principal.tenant, _statement(how, entry.kind), parameters
    )
    return Changed(version, done, before, after)


async def find(database: Fetches, tenant: str, kind: Kind, key: str) -> Object | None:
    rows = await database.fetch(tenant, _read("find", kind), {"key": key})
    return rows[0][0] if rows else None


async def page(database: Database, tenant: str, kind: Kind, beyond: str, limit: int) -> list[tuple[str, Object]]:
    """Keys and bodies after the key `beyond`."""
    rows = await database.fetch(tenant, _read("list", kind), {"beyond": beyond, "limit": limit})
    return [(key, body) for key, body in rows]


async def naming(database: Database, tenant: str, subject_key: str) -> Naming:
    rows = await database.fetch(tenant, query("policies/objects/naming"), {"subject": subject_key, "limit": MAX_NAMING})
    counts = {kind: count for kind, _, count in rows}
    return Naming([(kind, name) for kind, name, _ in rows], sum(counts.values()))


async def roles_of(database: Database, tenant: str) -> tuple[int, dict[str, Object]]:
    """The tenant's version and its roles by key, of one moment."""
    rows = await database.fetch(tenant, query("policies/objects/roles"), {})
    return rows[0][0], {key: body for _, key, body in rows if key is not None}


@cache
def _statement(how: Change, kind: Kind) -> sql.Composed:
    table, statement = sql.Identifier(_TABLES[kind]), sql.SQL(query(f"policies/objects/{how}"))
    if how in {"create", "put"}:
        changed = sql.SQL(query("policies/objects/insert")).format(table=table, conflict=statement)
    else:
        changed = statement.format(table=table)
    recorded = sql.SQL(query("outbox/record_decided"))
    return changed + sql.SQL(query("policies/objects/record_change")).format(recorded=recorded)


@cache
def _read(name: str, kind: Kind) -> sql.Composed:
    return sql.SQL(query(f"policies/objects/{name}")).format(table=sql.Identifier(_TABLES[kind]))
