"""Whatever the hierarchy and the policies: a list leaves out what decisions deny, page by page, and nothing else."""

import asyncio
import uuid
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from lily.api.auth.facts import facts_of_assets
from lily.model import ids
from lily.model.assets import DELETED, SUPPRESSED, TYPE, tag_key
from lily.model.held import PARENT_ID
from lily.model.layers import TAGS
from lily.policy import Facts, Principal, Visibility, compile_policies, parse_policy
from lily.store.assets import StoredAsset
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.search import SearchRequest, Sorting, search
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.policies.facts import Wanted, read_facts
from lily.store.postgres.sessions import Database
from tests.api_database import opened
from tests.postgres.migrated import Migrated

NAMES = [f"{letter}.{number}" for letter in "abcd" for number in range(3)]
TYPES, SOURCES, KEYS = ("table", "view", "schema", "column"), ("crm", "HR", None), ("PII", "Secret", "Team")
AT = "2026-01-01T00:00:00.000000Z/e"
USER = Principal("ann")


@dataclass(frozen=True)
class Drawn:
    """An asset of the world: what its source states, what a user suppressed, and the tags that arrived along edges."""

    entity_type: str
    source: str | None
    parent: str | None
    tags: frozenset[str]
    suppressed: frozenset[str]
    arrived: bool
    deleted: bool

    def layers(self, tenant: str) -> tuple[Jsonb, Jsonb | None]:
        fields: dict[str, Any] = {TYPE: self.entity_type, DELETED: self.deleted, "description": "shared words"}
        fields |= {TAGS: {tag_key(tag): tag for tag in self.tags}} if self.tags else {}
        fields |= {"data_source": self.source} if self.source else {}
        fields |= {"parent": self.parent, PARENT_ID: ids.asset_id(tenant, self.parent)} if self.parent else {}
        about = {"reason": "r", "by": "b", "origins": []}
        user = {SUPPRESSED + tag_key(tag): {"tag": tag, **about} for tag in self.suppressed}
        return Jsonb(fields), Jsonb(user) if user else None


tags = st.frozensets(st.sampled_from(KEYS), max_size=2)
assets = st.builds(
    Drawn,
    entity_type=st.sampled_from(TYPES),
    source=st.sampled_from(SOURCES),
    parent=st.none() | st.sampled_from([*NAMES, "not ingested"]),
    tags=tags,
    suppressed=tags,
    arrived=st.booleans(),
    deleted=st.booleans(),
)
worlds = st.fixed_dictionaries(dict.fromkeys(NAMES, assets))
NOTHING: frozenset[str] = frozenset()
PLAIN = Drawn("table", None, None, NOTHING, NOTHING, arrived=False, deleted=False)
# It suppresses one of two hidden tags and inherits the other.
HALF_SUPPRESSED = {
    **dict.fromkeys(NAMES, PLAIN),
    "a.0": replace(PLAIN, tags=frozenset({"PII"})),
    "a.1": replace(PLAIN, parent="a.0", suppressed=frozenset({"Secret"})),
}
resources = st.one_of(
    st.sampled_from([*NAMES, "A.1", "not ingested"]).map(lambda name: {"asset": name}),
    st.sampled_from([*KEYS, "pii"]).map(lambda tag: {"tag": tag}),
    st.sampled_from(TYPES).map(lambda kind: {"entity_type": kind}),
    st.sampled_from(["crm", "hr", "*"]).map(lambda source: {"data_source": source}),
)


@pytest.mark.parametrize("lags", [False, True])
@settings(max_examples=30)
@given(
    world=worlds,
    denied=st.lists(resources, min_size=1, max_size=3),
    sort=st.sampled_from(["id", "qualified_name", "entity_type", "rank"]),
    on_delete=st.sampled_from(["keep", "cut"]),
    edges=st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=6),
)
@example(world=HALF_SUPPRESSED, denied=[{"tag": "PII"}, {"tag": "Secret"}], sort="id", on_delete="keep", edges=set())
@example(world=HALF_SUPPRESSED, denied=[{"tag": "PII"}, {"asset": "b.0"}], sort="rank", on_delete="keep", edges=set())
@example(
    world=dict.fromkeys(NAMES, PLAIN) | {"a.0": replace(PLAIN, tags=frozenset({"PII"}))},
    denied=[{"tag": "PII"}],
    sort="id",
    on_delete="keep",
    edges={("a.0", "b.0")},
)
def test_a_list_leaves_out_what_decisions_deny(
    *,
    migrated: Migrated,
    owner: psycopg.Connection,
    world: dict[str, Drawn],
    denied: list[dict[str, str]],
    sort: Sorting,
    on_delete: str,
    edges: set[tuple[str, str]],
    lags: bool,
) -> None:
    tenant = new_tenant(migrated, owner, lags=lags)
    store(owner, tenant, world, on_delete)
    link(owner, tenant, edges)
    asyncio.run(compare(migrated.url_of("lily_api"), tenant, visibility_of(tenant, denied), sort, lags=lags))


def new_tenant(migrated: Migrated, owner: psycopg.Connection, *, lags: bool) -> str:
    tenant = f"t{uuid.uuid4().hex[:12]}"
    create_tenant(migrated.owner, tenant)
    # What other tests have left behind: more than a few batches on their way count as a lag of every tenant.
    owner.execute("update batches set published_at = now(), ends = '{}' where published_at is null")
    if lags:
        park = "insert into parked_tenants (reaction, tenant_id, reason) values ('propagation', %s, 'in a test')"
        owner.execute(park, [tenant])
    return tenant


def visibility_of(tenant: str, denied: list[dict[str, str]]) -> Visibility:
    body = {"name": "p", "subjects": [{"user": "*"}], "resources": denied, "actions": ["READ"], "effect": "deny"}
    policy = parse_policy(body, tenant=tenant, policy_id="p")
    return compile_policies(tenant, [policy]).visibility(USER)


def store(connection: psycopg.Connection, tenant: str, world: dict[str, Drawn], on_delete: str) -> None:
    connection.execute("update tenants set on_delete = %s where id = %s", [on_delete, tenant])
    for name, asset in world.items():
        source, user = asset.layers(tenant)
        asset_id = ids.asset_id(tenant, name)
        connection.execute(
            'insert into assets (tenant_id, id, qualified_name, source, source_at, "user", user_at, version, '
            "created_at, updated_at) values (%s, %s, %s, %s, %s, %s, %s, 1, now(), now())",
            [tenant, asset_id, name, source, AT, user, AT if user else None],
        )
        if asset.arrived:
            connection.execute(
                "insert into derived_tags (tenant_id, tag, asset_id, kind, via, depth, steps, root) "
                "values (%s, 'pii', %s, 'propagated', %s, 1, 1, %s)",
                [tenant, asset_id, asset_id, asset_id],
            )


def link(connection: psycopg.Connection, tenant: str, edges: set[tuple[str, str]]) -> None:
    """Propagation does not run here: while it lags, decisions count what the edges would bring, else they do not."""
    for from_name, to_name in edges:
        connection.execute(
            "insert into edges (tenant_id, from_id, to_id, type, source, source_at, created_at, updated_at) "
            "values (%s, %s, %s, 'derived-from', '{\"$deleted\": false}', %s, now(), now())",
            [tenant, ids.asset_id(tenant, from_name), ids.asset_id(tenant, to_name), AT],
        )


async def compare(url: str, tenant: str, visibility: Visibility, sort: Sorting, *, lags: bool) -> None:
    async with opened(url) as database:
        rules = await read_tag_rules(database, tenant)
        named = visibility.hidden.tags
        known = await read_facts(database, tenant, NAMES, Wanted(rules, rules.protective | named, attributes=False))
        expected = {name for name, facts in known.items() if facts is not None and not visibility.hides(facts)}
        # By rank, all are found by a word of their descriptions.
        filters: dict[Any, str] = {"q": "shared"} if sort == "rank" else {}
        request = SearchRequest(filters, True, sort, "asc", 2, hidden=visibility.hidden)
        listed = await every_page(database, tenant, request)
        found = [asset.qualified_name for asset in listed]
        assert len(found) == len(set(found))
        assert expected <= set(found)  # nothing is left out that may be seen
        seen = await facts(database, tenant, named, listed)
        assert {one.qualified_name for one in seen if not visibility.hides(one)} == expected
        # The source of a column can be its table's, and SQL does not know the children of what was never ingested.
        # While propagation lags, it does not know either what would arrive.
        is_known = "column" not in {one.entity_type for one in seen} and "not ingested" not in visibility.hidden.names
        if is_known and not lags:
            assert set(found) == expected


async def every_page(database: Database, tenant: str, request: SearchRequest) -> list[StoredAsset]:
    rules, found = await read_tag_rules(database, tenant), []
    while True:
        page = await search(database, tenant, request, rules)
        assert len(page.assets) <= request.limit
        found += page.assets
        if page.last is None:
            return found
        request = replace(request, after=page.last)


async def facts(database: Database, tenant: str, named: frozenset[str], listed: list[StoredAsset]) -> list[Facts]:
    """As the API makes them of assets that it has read."""
    policies = SimpleNamespace(tenant=tenant, named_tags=named, compares_attributes=False)
    services = SimpleNamespace(database=database, policies=SimpleNamespace(is_trusted=False))
    restrictions = SimpleNamespace(policies=policies, depend_on_tags=bool(named))
    return await facts_of_assets(cast("Any", services), cast("Any", restrictions), listed, ancestors=True)
