"""Explains the derived attributes of an asset: one path per value, from the supports that rules store."""

from typing import Any, NamedTuple

from lily.lineage.attribute_rules import Mode
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


class DerivedAttribute(NamedTuple):
    attribute: str
    value: Any
    rule: str  # the name of the rule
    mode: Mode
    depth: int  # the number of edges on the path
    path: list[str]  # the origin first, the asset last


async def derived_attributes(database: Database, tenant: str, asset_id: str) -> list[DerivedAttribute]:
    rows = await database.fetch(tenant, query("attributes/paths"), {"id": asset_id})
    return [DerivedAttribute(*row) for row in rows]
