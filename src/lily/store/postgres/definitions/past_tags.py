"""Tag definitions and the `on_delete` setting as they were at a time."""

from typing import Any

from lily.lineage.definitions import TagDefinition
from lily.lineage.tag_rules import TagRules
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


async def read_tag_rules_at(database: Database, tenant: str, at: str) -> TagRules:
    rows = await database.fetch(tenant, query("definitions/tag_rules_at"), {"at": at})
    definitions = {key: _definition(key, body) for kind, key, body in rows if kind == "tag"}
    return TagRules(definitions, next(body for kind, _, body in rows if kind == "setting"))


def _definition(key: str, body: dict[str, Any]) -> TagDefinition:
    types = body["edge_types"]
    return TagDefinition(
        key,
        body["name"],
        body["propagates"],
        body["direction"],
        body["max_depth"],
        None if types is None else frozenset(types),
        body["stopped_by_masking"],
    )
