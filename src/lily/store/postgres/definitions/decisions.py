"""Decisions of administrators: each is one statement with its outbox row and its audit entry, in one transaction."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from psycopg import sql
from psycopg.types.json import Jsonb

from lily.model.access import Principal
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

Kind = Literal["tag", "rule", "setting"]
Action = Literal["defined", "redefined", "deleted", "changed"]

_TABLES: Mapping[Kind, str] = {"tag": "tags", "rule": "propagation_rules"}
_STATEMENTS: Mapping[tuple[Kind, Action], str] = {
    ("tag", "defined"): "definitions/define_tag",
    ("rule", "defined"): "definitions/define_rule",
    ("setting", "changed"): "definitions/decide_on_delete",
}


async def change_definition(
    database: Database, principal: Principal, kind: Kind, key: str, changes: Mapping[str, Any], *, correlation: str
) -> bool:
    """Changes the named fields. False if there is no such definition."""
    values = {"key": key, "changes": Jsonb(dict(changes))}
    return await decide(database, principal, kind, "redefined", values, correlation=correlation)


async def delete_definition(
    database: Database, principal: Principal, kind: Kind, key: str, *, correlation: str
) -> bool:
    """False if there is no such definition."""
    return await decide(database, principal, kind, "deleted", {"key": key}, correlation=correlation)


async def decide(
    database: Database,
    principal: Principal,
    kind: Kind,
    action: Action,
    values: Mapping[str, Any],
    *,
    correlation: str,
) -> bool:
    """Runs the statement of a decision with what follows every decision. False if it changed nothing."""
    context = {"by": principal.name, "correlation": correlation, "kind": kind, "action": f"{kind}.{action}"}
    return bool(await database.fetch(principal.tenant, _statement(kind, action), {**values, **context}))


@cache
def _statement(kind: Kind, action: Action) -> sql.Composed:
    """`{shown}` is the definition as the outbox and the audit record it, `{was}` the same before the change."""
    name = {"redefined": "definitions/redefine", "deleted": "definitions/undefine"}.get(action)
    own = sql.SQL(query(f"definitions/redefine_{kind}")) if action == "redefined" else sql.SQL("")
    table = sql.Identifier(_TABLES.get(kind, ""))
    decision = sql.SQL(query(name or _STATEMENTS[kind, action])).format(
        table=table, own=own, shown=_shown("t"), was=_shown("old")
    )
    return decision + sql.SQL(query("definitions/decided"))


def _shown(row: Literal["t", "old"]) -> sql.Composed:
    hidden = sql.SQL("array['tenant_id', 'key', 'created_at', 'updated_at']")
    return sql.SQL("to_jsonb({}) - {}").format(sql.SQL(row), hidden)
