"""The rules by which a tenant's attributes propagate. Not cached: only the calls that manage rules read them."""

from typing import Any

from lily.lineage.attribute_rules import AttributeRule
from lily.model.access import Principal
from lily.store.postgres.definitions.decisions import decide
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


async def create_attribute_rule(
    database: Database, principal: Principal, rule: AttributeRule, correlation: str
) -> bool:
    """Returns False if a rule of that name, or for that attribute, exists already."""
    values = {"key": rule.key, **rule.as_dict()}
    return await decide(database, principal, "rule", "defined", values, correlation=correlation)
