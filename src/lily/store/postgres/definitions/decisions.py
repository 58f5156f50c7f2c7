"""Decisions of administrators about tags, rules and settings.

Each decision is one statement that changes the definition, queues the change for publication and audits it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from psycopg import sql
from psycopg.types.json import Jsonb

from lily.model.access import Principal
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

Kind = Literal["tag", "rule", "setting"]
Action = Literal["defined", "redefined", "deleted", "changed"]  # as the audit names them

_TABLES: Mapping[Kind, str] = {"tag": "tags", "rule": "propagation_rules"}
_STATEMENTS: Mapping[tuple[Kind, Action], str] = {
    ("tag", "defined"): "definitions/define_tag",
    ("rule", "defined"): "definitions/define_rule",
    ("tag", "redefined"): "definitions/update",
    ("rule", "redefined"): "definitions/update",
    ("tag", "deleted"): "definitions/delete",
    ("rule", "deleted"): "definitions/delete",
    ("setting", "changed"): "definitions/set_on_delete",
}
# The columns that only one kind of definition has.
_OWN_COLUMNS: Mapping[Kind, str] = {"tag": "definitions/update_tag", "rule": "definitions/update_rule"}


async def update_definition(
    database: Database, principal: Principal, kind: Kind, key: str, changes: Mapping[str, Any], *, correlation: str
) -> bool:
    """Updates the given fields. Returns False if there is no such definition."""
    values = {"key": key, "changes": Jsonb(dict(changes))}
    return await decide(database, principal, kind, "redefined", values, correlation=correlation)


async def delete_definition(
    database: Database, principal: Principal, kind: Kind, key: str, *, correlation: str
) -> bool:
    """Returns False if there is no such definition."""
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
    """Runs the statement of a decision, with its outbox row and audit entry. Returns False if it changed nothing."""
    context = {"by": principal.name, "correlation": correlation, "kind": kind, "action": f"{kind}.{action}"}
    return bool(await database.fetch(principal.tenant, _statement(kind, action), {**values, **context}))


@cache
def _statement(kind: Kind, action: Action) -> sql.Composed:
    """`{shown}` is the definition as the outbox and the audit record it, `{was}` the same before the change."""
    own = sql.SQL(query(_OWN_COLUMNS[kind])) if action == "redefined" else sql.SQL("")
    table = sql.Identifier(_TABLES.get(kind, ""))
    decision = sql.SQL(query(_STATEMENTS[kind, action])).format(
        table=table, own=own, shown=_recorded("t"), was=_recorded("old")
    )
    recorded = sql.SQL(query("outbox/record_decided"))
    return decision + sql.SQL(query("definitions/record_decision")).format(recorded=recorded)


def _recorded(row: Literal["t", "old"]) -> sql.Composed:
    """A definition as JSON, without the columns that are not part of it."""
    hidden = sql.SQL("array['tenant_id', 'key', 'created_at', 'updated_at']")
    return sql.SQL("to_jsonb({}) - {}").format(sql.SQL(row), hidden)
