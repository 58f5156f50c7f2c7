"""The rules by which a tenant's attributes travel: read anew each time, written with their trace in one transaction."""

from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

from lily.lineage.attribute_rules import AttributeRule
from lily.model.access import Principal
from lily.store.postgres.definitions.tags import decide
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


async def read_attribute_rules(database: Database, tenant: str) -> dict[str, AttributeRule]:
    """By key."""
    rows = await database.fetch(tenant, query("definitions/attribute_rules"), {})
    return {row[0]: rule_of(row) for row in rows}


def rule_of(row: tuple[Any, ...]) -> AttributeRule:
    key, name, attribute, mode, direction, max_depth, edge_types = row
    types = None if edge_types is None else frozenset(edge_types)
    return AttributeRule(key, name, attribute, mode, direction, max_depth, types)


async def define_rule(database: Database, principal: Principal, rule: AttributeRule, correlation: str) -> bool:
    """False where there is one of that name, or for that attribute, already."""
    stated = {
        "key": rule.key,
        "name": rule.name,
        "attribute": rule.attribute,
        "mode": rule.mode,
        "direction": rule.direction,
        "max_depth": rule.max_depth,
        "edge_types": None if rule.edge_types is None else sorted(rule.edge_types),
    }
    return await decide(database, principal, "definitions/define_rule", stated, correlation)


async def redefine_rule(
    database: Database, principal: Principal, key: str, changes: Mapping[str, Any], correlation: str
) -> bool:
    """Changes the named fields. False where there is no such rule."""
    stated = {"key": key, "changes": Jsonb(dict(changes))}
    return await decide(database, principal, "definitions/redefine_rule", stated, correlation)


async def undefine_rule(database: Database, principal: Principal, key: str, correlation: str) -> bool:
    """False where there is no such rule."""
    return await decide(database, principal, "definitions/undefine_rule", {"key": key}, correlation)
