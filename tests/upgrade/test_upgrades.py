"""A database of any earlier version is upgraded: it gets the schema of a new installation and keeps its data."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import psycopg
import pytest

from lily.model import ids
from lily.model.assets import tag_key
from lily.store.assets import StoredAsset
from lily.store.postgres.access.administration import create_tenant, create_token, seconds_left
from lily.store.postgres.audit.verification import opened_chains
from lily.store.postgres.catalogue.history import changes_of
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.catalogue.search import SearchRequest, search
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.definitions.rules import read_attribute_rules
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.migrations import migrate
from lily.store.postgres.outbox.batches import Change, Outbox
from lily.store.postgres.propagation.propagator import Propagator
from lily.store.postgres.sessions import Database as Sessions
from tests.lineage_world import World
from tests.postgres_server import Server
from tests.upgrade.database import PASSWORDS, Database
from tests.upgrade.states import BEFORE_CHECKSUMS, MIGRATIONS, STATES, State, build

TENANTS = {"north": "ada", "south": "bob"}  # with the owner of its assets
NAMES = ("shop", "shop.customers", "shop.newsletter", "shop.stats", "shop.old", "shop.customers.email")
LEDGER = {"migrations", "functions_applied"}
LAKE, LINEAGE, RULES = 2, 3, 4  # the migrations that brought them

Rows = list[dict[str, Any]]


class Upgrade(NamedTuple):
    """A database that was upgraded from a state, with its rows before and after."""

    state: State
    database: Database
    before: dict[str, Rows]
    after: dict[str, Rows]
    schema: str


def always(state: State) -> bool:
    """Of each kind some are upgraded in `make test`: the oldest, both sides of checksums, the newest."""
    return state.count in {1, BEFORE_CHECKSUMS} or state.count > len(MIGRATIONS) - 3


UPGRADED = [
    pytest.param(state, id=str(state), marks=() if always(state) else (pytest.mark.campaign,)) for state in STATES
]


@pytest.fixture(scope="module", params=UPGRADED)
def upgrade(server: Server, request: pytest.FixtureRequest) -> Upgrade:
    database = Database(server)
    build(database.owner, request.param)
    before = contents(database)
    migrate(database.owner, PASSWORDS)
    return Upgrade(request.param, database, before, contents(database), database.schema())


def contents(database: Database) -> dict[str, Rows]:
    with psycopg.connect(database.superuser) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        return {
            table: [row for (row,) in connection.execute(f'select to_jsonb(t) from "{table}" t'.encode())]  # noqa: S608
            for (table,) in tables
            if table not in LEDGER
        }


def in_order(rows: Rows, columns: set[str]) -> list[str]:
    return sorted(json.dumps({name: row[name] for name in columns}, sort_keys=True) for row in rows)


def test_every_table_of_the_state_has_rows_of_both_tenants(upgrade: Upgrade) -> None:
    assert [table for table, rows in upgrade.before.items() if not rows] == []
    owned = {
        table: {row["tenant_id"] for row in rows} for table, rows in upgrade.before.items() if "tenant_id" in rows[0]
    }
    assert [table for table, tenants in owned.items() if tenants != set(TENANTS)] == []


def test_no_row_is_lost_added_or_changed(upgrade: Upgrade) -> None:
    for table, rows in upgrade.before.items():
        columns = set(rows[0])
        assert in_order(upgrade.after[table], columns) == in_order(rows, columns), table


def test_the_schema_is_that_of_a_new_installation(upgrade: Upgrade, fresh: Database) -> None:
    assert upgrade.schema.splitlines() == fresh.schema().splitlines()


def test_every_migration_is_recorded_with_its_checksum(upgrade: Upgrade) -> None:
    with psycopg.connect(upgrade.database.superuser) as connection:
        recorded: dict[str, str] = dict(connection.execute("select name, checksum from migrations"))
    assert recorded == {script.name: script.checksum for script in MIGRATIONS}


def test_the_next_start_has_nothing_to_do(upgrade: Upgrade) -> None:
    assert migrate(upgrade.database.owner, PASSWORDS) == []


class Seen(NamedTuple):
    """What one tenant reads."""

    assets: dict[str, StoredAsset]
    found: list[str]
    history: list[Change]
    rules: list[str]


async def look(url: str, tenant: str) -> Seen:
    """Reads with the serving role, as the API does. Asks also for assets of other tenants."""
    sessions = Sessions(url)
    await sessions.open()
    try:
        reader = AssetReader(sessions, TagRulesCache(sessions))
        asked = [ids.asset_id(anyone, name) for anyone in TENANTS for name in NAMES]
        assets = await reader.find_many(tenant, asked)
        listing = SearchRequest({"q": "customers"}, include_deleted=False, sort="qualified_name", order="asc", limit=10)
        page = await search(sessions, tenant, listing, await reader.rules(tenant))
        history = await changes_of(sessions, tenant, ids.asset_id(tenant, "shop.customers"), below=None, limit=10)
        rules = await read_attribute_rules(sessions, tenant)
    finally:
        await sessions.close()
    named = {asset.qualified_name: asset for asset in assets.values()}
    assert len(named) == len(assets)
    return Seen(named, [asset.qualified_name for asset in page.assets], history, list(rules))


@pytest.fixture(params=TENANTS)
def tenant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def seen(upgrade: Upgrade, tenant: str) -> Seen:
    return asyncio.run(look(upgrade.database.url_of("lily_api"), tenant))


def test_a_tenant_reads_its_own_assets_and_no_others(upgrade: Upgrade, tenant: str, seen: Seen) -> None:
    expected = set(NAMES) if upgrade.state.count >= LAKE else set(NAMES) - {"shop.customers.email"}
    assert set(seen.assets) == expected
    assert {asset.view["tenant_id"] for asset in seen.assets.values()} == {tenant}
    assert seen.assets["shop.customers"].view["attributes"]["owner"] == TENANTS[tenant]
    assert [name for name, asset in seen.assets.items() if asset.view["is_deleted"]] == ["shop.old"]
    assert seen.found == sorted(name for name in expected if "customers" in name)


def test_tags_are_read_as_they_were_stated_and_as_they_had_travelled(upgrade: Upgrade, seen: Seen) -> None:
    tags = {name: asset.effective for name, asset in seen.assets.items()}
    assert tags["shop.customers"] == {"pii"}
    assert tags["shop.newsletter"] == ({"finance", "pii"} if upgrade.state.count >= LINEAGE else {"finance"})
    assert tags["shop.stats"] == set()
    assert tags.get("shop.customers.email") == ({"pii", "gdpr"} if upgrade.state.count >= LAKE else None)


def test_history_and_rules_are_read(upgrade: Upgrade, tenant: str, seen: Seen) -> None:
    assert [change.causes[0]["by"] for change in seen.history] == ["crawler"]
    assert seen.rules == (["owners"] if upgrade.state.count >= RULES else [])
    owner = seen.assets["shop.newsletter"].view["attributes"]["owner"]
    assert owner == (TENANTS[tenant] if upgrade.state.count >= RULES else None)


def test_a_token_of_before_still_opens_the_door(upgrade: Upgrade, tenant: str) -> None:
    assert seconds_left(upgrade.database.owner, f"lily_{tenant}") > 0
    assert not (seconds_left(upgrade.database.owner, "lily_unknown") > 0)


@pytest.fixture
def world(upgrade: Upgrade, tenant: str) -> Iterator[World]:
    pipeline = upgrade.database.url_of("lily_pipeline")
    with (
        closing(CatalogueWriter(pipeline)) as store,
        closing(Propagator(pipeline)) as propagator,
        psycopg.connect(upgrade.database.owner, autocommit=True) as owner,
    ):
        yield World(tenant, store, propagator, owner)


def test_the_pipeline_works_on_with_the_rows_of_before(upgrade: Upgrade, world: World) -> None:
    travelled = {"shop.newsletter", "shop.stats", "shop.old"} if upgrade.state.count >= LINEAGE else set()
    assert world.derived() == travelled
    assert world.stored() == world.recomputed()
    world.asset("shop.report")
    world.edge("shop.customers", "shop.report")
    world.settle()
    assert world.derived() == travelled | {"shop.report"}
    assert world.stored() == world.recomputed()


def test_the_tags_that_policies_name_are_known_after_the_upgrade(server: Server) -> None:
    database, before = Database(server), next(n for n, one in enumerate(MIGRATIONS) if "named_tags" in one.name)
    build(database.owner, State(before, checksums=True))
    resources = [{"tag": "Straße"}, {"tag": "PII"}, {"tag": "*"}, {"asset": "t"}]
    stored = (
        "insert into policies (tenant_id, key, body, names, version) "
        "select id, 'p', jsonb_build_object('resources', %s::jsonb), '{r:reader}', 9 from tenants where id = 'north'"
    )
    with psycopg.connect(database.owner) as connection:
        connection.execute(stored, [json.dumps(resources)])
    migrate(database.owner, PASSWORDS)
    with psycopg.connect(database.superuser) as connection:
        named: dict[str, list[str]] = dict(connection.execute("select tenant_id, named_tags from access_versions"))
        names = connection.execute("select names from policies where key = 'p'").fetchone()
        assert named == {"north": sorted(map(tag_key, ("Straße", "PII"))), "south": []}
        assert names == (["r:reader", "t:pii", f"t:{tag_key('Straße')}"],)
        connection.execute("delete from policies where key = 'p'")
        remaining = connection.execute("select named_tags from access_versions where tenant_id = 'north'").fetchone()
        assert remaining == ([],)


def test_tags_that_follow_influences_are_derived_anew_after_the_upgrade(server: Server) -> None:
    database, before = Database(server), next(n for n, one in enumerate(MIGRATIONS) if "influences" in one.name)
    build(database.owner, State(before, checksums=True))
    with psycopg.connect(database.owner) as connection:
        connection.execute(
            "update tags set edge_types = '{used-in,influences}' where tenant_id = 'south' and key = 'pii'"
        )
        connection.execute("update tags set edge_types = '{used-in}' where tenant_id = 'south' and key = 'gdpr'")
    migrate(database.owner, PASSWORDS)
    pipeline = database.url_of("lily_pipeline")
    with closing(Outbox(pipeline)) as outbox:
        decided = [one for one in outbox.decisions(outbox.unpublished(1000)) if one.by == "lily"]
    assert [(one.tenant_id, one.kind, one.name) for one in decided] == [("south", "tag", "PII")]


def test_the_audit_of_before_is_part_of_a_chain_that_goes_on(upgrade: Upgrade) -> None:
    with opened_chains(upgrade.database.owner) as chains:
        before = {one.tenant: chains.verify(one) for one in chains.found() if one.tenant in TENANTS}
    assert {tenant: found.broken for tenant, found in before.items()} == dict.fromkeys(TENANTS)
    for tenant in TENANTS:
        create_token(upgrade.database.owner, tenant, ["metadata:read"])
    with opened_chains(upgrade.database.owner) as chains:
        after = {
            one.tenant: chains.verify(one, before[one.tenant].head) for one in chains.found() if one.tenant in TENANTS
        }
    assert {tenant: (found.broken, found.entries) for tenant, found in after.items()} == {
        tenant: (None, before[tenant].entries + 1) for tenant in TENANTS
    }


def test_a_new_tenant_has_the_legal_tags(upgrade: Upgrade) -> None:
    create_tenant(upgrade.database.owner, "east")
    with psycopg.connect(upgrade.database.superuser) as connection:
        rows = connection.execute("select key from tags where tenant_id = 'east' order by key").fetchall()
    assert rows == [("gdpr",), ("pii",)]


def test_the_history_of_derived_tags_begins_with_the_upgrade_and_for_a_new_tenant_with_itself(upgrade: Upgrade) -> None:
    create_tenant(upgrade.database.owner, "west")
    with psycopg.connect(upgrade.database.superuser) as connection:
        starts = connection.execute("select tenant_id, starts_at <= now() from derived_tag_history_starts order by 1")
        assert starts.fetchall() == [(tenant, True) for tenant in TENANTS]


def test_what_a_lake_has_columns_of_is_unknown_until_it_is_listed(upgrade: Upgrade) -> None:
    unknown = {row["tenant_id"] for row in upgrade.after["lake_parents"] if row["place"] == "*"}
    expected = set(TENANTS) if upgrade.state.count >= LAKE else set()
    assert unknown == expected
