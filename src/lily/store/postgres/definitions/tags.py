"""What tenants have decided about tags: kept in memory for reads, written with its trace in one transaction."""

import asyncio
import time
from typing import Any

from lily.lineage.definitions import OnDelete, TagDefinition
from lily.lineage.tag_rules import TagRules
from lily.model.access import Principal
from lily.store.postgres.definitions.decisions import decide
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

REMEMBERED_SECONDS = 3.0  # a notification can be lost with its connection; then this is how long old rules hold


class Definitions:
    """The rules of each tenant that asks. They are forgotten when they change, and read anew every few seconds all the
    same; while they are unknown a reader waits for them. Raises StoreUnavailable where they cannot be read."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, tuple[TagRules, float]] = {}
        self._asked: dict[str, asyncio.Task[TagRules]] = {}

    async def of(self, tenant: str) -> TagRules:
        known = self._known.get(tenant)
        if known is not None and known[1] > time.monotonic():
            return known[0]
        if tenant not in self._asked:
            self._asked[tenant] = asyncio.create_task(self._ask(tenant))
        # Shielded: many reads may wait for one look-up, and one that goes away must not take it along.
        return await asyncio.shield(self._asked[tenant])

    def forget(self, tenant: str = "") -> None:
        """The tenant's rules have changed, or anybody's: ask again, also about what is being asked right now."""
        if tenant:
            self._known.pop(tenant, None)
            self._asked.pop(tenant, None)
        else:
            self._known, self._asked = {}, {}

    async def _ask(self, tenant: str) -> TagRules:
        try:
            rules = await read_rules(self._database, tenant)
            if self._asked.get(tenant) is asyncio.current_task():  # else it was told to be forgotten meanwhile
                self._known[tenant] = (rules, time.monotonic() + REMEMBERED_SECONDS)
            return rules
        finally:
            if self._asked.get(tenant) is asyncio.current_task():
                del self._asked[tenant]


async def read_rules(database: Database, tenant: str) -> TagRules:
    rows = await database.fetch(tenant, query("definitions/tag_rules"), {})
    definitions = {row[1]: definition_of(row[1:]) for row in rows if row[1] is not None}
    on_delete: OnDelete = rows[0][0] if rows else "keep"
    return TagRules(definitions, on_delete)


def definition_of(row: tuple[Any, ...]) -> TagDefinition:
    key, name, propagates, direction, max_depth, edge_types, stopped = row
    types = None if edge_types is None else frozenset(edge_types)
    return TagDefinition(key, name, propagates, direction, max_depth, types, stopped)


async def define(database: Database, principal: Principal, tag: TagDefinition, correlation: str) -> bool:
    """False where there is one of that name already."""
    types = None if tag.edge_types is None else sorted(tag.edge_types)
    stated = {
        "key": tag.key,
        "name": tag.name,
        "propagates": tag.propagates,
        "direction": tag.direction,
        "max_depth": tag.max_depth,
        "edge_types": types,
        "stopped_by_masking": tag.stopped_by_masking,
    }
    return await decide(database, principal, "tag", "defined", stated, correlation=correlation)


async def decide_on_delete(database: Database, principal: Principal, value: OnDelete, correlation: str) -> None:
    await decide(database, principal, "setting", "changed", {"value": value}, correlation=correlation)
