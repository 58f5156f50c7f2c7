"""Tag definitions, the `on_delete` setting and the tags that policies name, of each tenant: cached for reads.
Administrators' decisions write the first two."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from lily.lineage.definitions import OnDelete, TagDefinition
from lily.lineage.tag_rules import DEFAULT_TAG_RULES, TagRules
from lily.model.access import Principal
from lily.model.assets import tag_key
from lily.store.postgres.definitions.decisions import decide
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Fetches

CACHED_SECONDS = 3.0  # a notification can be lost with its connection; then old rules apply for at most this long


class TagRulesCache:
    """The tag rules of each tenant, read from PostgreSQL when they are needed, when they have changed and every few
    seconds. Concurrent readers share one query. Raises StoreUnavailable if they cannot be read."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cached: dict[str, tuple[TagRules, float]] = {}
        self._reading: dict[str, asyncio.Task[TagRules]] = {}

    async def get(self, tenant: str) -> TagRules:
        cached = self._cached.get(tenant)
        if cached is not None and cached[1] > time.monotonic():
            return cached[0]
        if tenant not in self._reading:
            self._reading[tenant] = asyncio.create_task(self._read(tenant))
        # Shielded: several readers may wait for this query, and one that is cancelled must not cancel it.
        return await asyncio.shield(self._reading[tenant])

    def invalidate(self, tenant: str = "") -> None:
        """Drops the rules of a tenant, or of all tenants, and the results of queries that are running now."""
        if tenant:
            self._cached.pop(tenant, None)
            self._reading.pop(tenant, None)
        else:
            self._cached, self._reading = {}, {}

    async def _read(self, tenant: str) -> TagRules:
        try:
            rules = await read_tag_rules(self._database, tenant)
            if self._reading.get(tenant) is asyncio.current_task():  # else it was invalidated meanwhile
                self._cached[tenant] = (rules, time.monotonic() + CACHED_SECONDS)
            return rules
        finally:
            if self._reading.get(tenant) is asyncio.current_task():
                del self._reading[tenant]


async def read_tag_rules(database: Fetches, tenant: str) -> TagRules:
    return tag_rules_of(await database.fetch(tenant, query("definitions/tag_rules"), {}))


def tag_rules_of(rows: Sequence[Sequence[Any]]) -> TagRules:
    """From a row with the tenant's settings, followed by one row per tag. Without rows there is no such tenant."""
    if not rows:
        return DEFAULT_TAG_RULES
    (on_delete, named, *_), *tags = rows
    return TagRules({row[2]: _definition(row[2:]) for row in tags}, on_delete, frozenset(map(tag_key, named)))


def _definition(row: Sequence[Any]) -> TagDefinition:
    key, name, propagates, direction, max_depth, edge_types, stopped = row
    types = None if edge_types is None else frozenset(edge_types)
    return TagDefinition(key, name, propagates, direction, max_depth, types, stopped)


async def create_tag_definition(database: Database, principal: Principal, tag: TagDefinition, correlation: str) -> bool:
    """Returns False if a tag of that name is defined already."""
    types = None if tag.edge_types is None else sorted(tag.edge_types)
    values = {
        "key": tag.key,
        "name": tag.name,
        "propagates": tag.propagates,
        "direction": tag.direction,
        "max_depth": tag.max_depth,
        "edge_types": types,
        "stopped_by_masking": tag.stopped_by_masking,
    }
    return await decide(database, principal, "tag", "defined", values, correlation=correlation)


async def set_on_delete(database: Database, principal: Principal, value: OnDelete, correlation: str) -> None:
    await decide(database, principal, "setting", "changed", {"value": value}, correlation=correlation)
