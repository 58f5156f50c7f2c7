"""The cache of tag rules: it never serves rules from before a change, and the legal tags are always protective."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from lily.lineage.definitions import TagDefinition
from lily.lineage.tag_rules import TagRules
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.sessions import Database, Query, Row, StoreUnavailable


class Kept(Database):
    """A tenant's rows in memory, returned after a pause."""

    def __init__(self) -> None:
        self.secret = False
        self.asked = 0
        self.fails = False

    async def fetch(self, tenant: str | None, statement: Query, parameters: Mapping[str, Any]) -> list[Row]:
        del tenant, statement, parameters
        self.asked += 1
        settings: Row = ("keep", ["named"], *[None] * 7)
        tag: Row = (None, None, "secret", "Secret", self.secret, "downstream", None, ["used-in"], False)
        await asyncio.sleep(0.01)
        if self.fails:
            raise StoreUnavailable("away")
        return [settings, tag]


def test_rules_are_read_once_and_again_after_a_change() -> None:
    async def story() -> None:
        kept = Kept()
        cache = TagRulesCache(kept)
        first = await asyncio.gather(*(cache.get("t") for _ in range(5)))
        assert kept.asked == 1
        assert {rules.protective for rules in first} == {frozenset({"pii", "gdpr", "named"})}
        kept.secret = True
        assert "secret" not in (await cache.get("t")).protective
        cache.invalidate("t")
        assert "secret" in (await cache.get("t")).protective
        assert (await cache.get("t")).definitions["secret"].edge_types == frozenset({"used-in"})
        assert kept.asked == 2

    asyncio.run(story())


@pytest.mark.parametrize("tenant", ["t", ""])
def test_rules_read_before_a_change_are_not_cached(tenant: str) -> None:
    async def story() -> None:
        kept = Kept()
        cache = TagRulesCache(kept)
        early = asyncio.create_task(cache.get("t"))
        await asyncio.sleep(0.001)
        kept.secret = True
        cache.invalidate(tenant)
        await early
        assert "secret" in (await cache.get("t")).protective

    asyncio.run(story())


def test_rules_that_could_not_be_read_are_read_again() -> None:
    async def story() -> None:
        kept = Kept()
        kept.fails = True
        cache = TagRulesCache(kept)
        with pytest.raises(StoreUnavailable):
            await cache.get("t")
        kept.fails = False
        assert (await cache.get("t")).on_delete == "keep"

    asyncio.run(story())


def test_the_legal_tags_are_protective_whatever_is_defined() -> None:
    assert TagRules({}).protective == {"pii", "gdpr"}
    assert TagRules({"pii": TagDefinition("pii", "PII")}).protective == {"pii", "gdpr"}


def test_tag_keys_are_quoted_in_the_array_literal() -> None:
    rules = TagRules({tag: TagDefinition(tag, tag, propagates=True) for tag in ('a"b', "c\\d", "e,f")})
    assert rules.protective_array == '{"a\\"b","c\\\\d","e,f","gdpr","pii"}'
