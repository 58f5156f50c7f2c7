"""What ends without authority is held: not shown, in effect where it is protective, until somebody with authority ends
it."""

from collections.abc import Callable
from itertools import islice
from random import Random
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.catalogue.search import SearchRequest, search
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.propagation.tag_paths import derivations
from tests import oracle
from tests.api_database import with_database
from tests.lineage_world import World
from tests.oracle_form import as_oracle
from tests.postgres.decided_tags import DecidedTags
from tests.postgres.migrated import Migrated
from tests.strategies import PARENTS, events


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    return make_world()


@pytest.fixture
def view(migrated: Migrated) -> Callable[[World, str], dict[str, Any]]:
    """An asset as a read shows it."""

    def read(world: World, name: str) -> dict[str, Any]:
        async def story(database: Any) -> Any:
            reader = AssetReader(database, TagRulesCache(database))
            return await reader.find_many(world.tenant, [world.id_of(name)])

        (asset,) = with_database(migrated.url_of("lily_api"), story).values()
        return dict(asset.view)

    return read


View = Callable[[World, str], dict[str, Any]]


def audit_of(owner: psycopg.Connection, world: World) -> list[tuple[Any, ...]]:
    asked = "select principal, action, entity, detail -> 'tags', detail ->> 'layer' from audit where tenant_id = %s"
    rows = owner.execute(asked + " order by id", [world.tenant])
    return [row for row in rows if row[1].startswith("tag.")]


def without_authority(world: World) -> World:
    world.authorised = False
    return world


def with_authority(world: World) -> World:
    world.authorised = True
    return world


def test_a_source_that_no_longer_names_a_tag_hides_it_and_keeps_it_in_effect(
    world: World, view: View, decided: DecidedTags, owner: psycopg.Connection
) -> None:
    world.asset("a", tags=["PII", "raw"])
    without_authority(world).asset("a", tags=[])
    found = view(world, "a")
    assert found["attributes"]["tags"] == []
    assert found["tags"] == {
        **{layer: [] for layer in ("source", "enriched", "user", "propagated", "inherited")},
        "effective": ["PII"],
    }
    assert decided.of(world, ["a"]) == {"a": {"pii"}}
    assert audit_of(owner, world) == []
    with_authority(world).asset("a", tags=[])
    assert view(world, "a")["tags"]["effective"] == []
    assert audit_of(owner, world) == [("crawler", "tag.removed", world.id_of("a"), ["pii"], "source")]


def test_a_tag_that_is_not_protective_is_held_unseen_until_it_becomes_protective(
    world: World, view: View, decided: DecidedTags
) -> None:
    world.asset("a", tags=["raw"])
    world.asset("b", parent="a")
    without_authority(world).asset("a", tags=[])
    assert view(world, "a")["tags"]["effective"] == view(world, "b")["tags"]["inherited"] == []
    assert decided.of(world, ["a", "b"]) == {"a": frozenset(), "b": frozenset()}
    world.define("raw")
    world.settle()
    assert view(world, "a")["tags"]["effective"] == view(world, "b")["tags"]["inherited"] == ["raw"]
    assert decided.of(world, ["a", "b"]) == {"a": {"raw"}, "b": {"raw"}}


def test_a_held_tag_propagates_and_is_found_by_search(world: World, migrated: Migrated) -> None:
    world.asset("a", tags=["PII"])
    world.asset("b")
    world.edge("a", "b")
    without_authority(world).asset("a", tags=None)
    world.settle()
    assert world.derived("pii") == {"b"}
    assert world.stored() == world.recomputed()

    async def story(database: Any) -> Any:
        rules = await TagRulesCache(database).get(world.tenant)
        request = SearchRequest({"tag": "pii"}, include_deleted=False, sort="id", order="asc", limit=9)
        return await search(database, world.tenant, request, rules)

    page = with_database(migrated.url_of("lily_api"), story)
    assert sorted(asset.qualified_name for asset in page.assets) == ["a", "b"]


def test_an_authorised_removal_of_one_tag_ends_that_one(world: World, view: View, owner: psycopg.Connection) -> None:
    world.person("a", "upsert", attributes={"tags": ["PII", "GDPR"]})
    without_authority(world).person("a", "upsert", attributes={"tags": []})
    assert view(world, "a")["tags"]["effective"] == ["GDPR", "PII"]
    with_authority(world).person("a", "untag", tag="pii")
    assert view(world, "a")["tags"]["effective"] == ["GDPR"]
    assert audit_of(owner, world) == [("ada", "tag.removed", world.id_of("a"), ["pii"], "user")]


def test_a_list_that_is_dated_ahead_does_not_outdate_a_later_classification(world: World, view: View) -> None:
    world.time = "2030-01-01T00:04:00.000000Z"
    without_authority(world).asset("a", tags=[])
    world.time = "2030-01-01T00:00:00.000000Z"
    world.asset("a", tags=["PII"])
    assert view(world, "a")["tags"]["effective"] == ["PII"]


@pytest.mark.parametrize("moved_by", ["the source", "a person", "the source, to nowhere"])
def test_a_move_without_authority_keeps_what_the_old_parent_passes_down(
    world: World, view: View, decided: DecidedTags, owner: psycopg.Connection, moved_by: str
) -> None:
    world.asset("old", tags=["PII", "note"])
    world.asset("new", tags=["other"])
    world.asset("a", parent="old")
    world.asset("b")
    world.edge("a", "b")
    world.settle()

    def move() -> None:
        if moved_by == "a person":
            world.person("a", "upsert", attributes={"parent": "new"})
        else:
            world.asset("a", parent="new" if moved_by == "the source" else None)
        world.settle()

    without_authority(world)
    move()
    shown = ["other"] if "nowhere" not in moved_by else []
    assert view(world, "a")["tags"]["inherited"] == [*shown, "PII"]
    assert view(world, "a")["attributes"]["parent"] == (None if "nowhere" in moved_by else "new")
    assert decided.of(world, ["a", "b"]) == {"a": {"pii"}, "b": {"pii"}}
    assert world.stored() == world.recomputed()
    assert audit_of(owner, world) == []
    with_authority(world)
    move()
    assert view(world, "a")["tags"]["inherited"] == shown
    assert world.derived("pii") == set()
    assert world.stored() == world.recomputed()


def test_the_audit_has_the_tags_that_an_authorised_move_leaves_behind(world: World, owner: psycopg.Connection) -> None:
    world.asset("top", tags=["PII", "note"])
    world.asset("old", parent="top")
    world.asset("a", parent="old")
    world.asset("a", parent=None)
    assert audit_of(owner, world) == [("crawler", "tag.removed", world.id_of("a"), ["pii"], "inherited")]


def test_the_audit_has_the_tags_that_a_person_leaves_behind_by_covering_the_sources_parent(
    world: World, owner: psycopg.Connection
) -> None:
    world.asset("old", tags=["PII"])
    world.asset("a", parent="old")
    without_authority(world).person("a", "upsert", attributes={"parent": "new"})
    assert audit_of(owner, world) == []
    with_authority(world).person("a", "upsert", attributes={"parent": "new"})
    world.person("a", "upsert", attributes={"parent": "new"})
    assert audit_of(owner, world) == [("ada", "tag.removed", world.id_of("a"), ["pii"], "inherited")]


def test_a_circle_of_parents_loses_nothing(world: World, view: View) -> None:
    world.asset("top", tags=["PII"])
    world.asset("middle", parent="top")
    world.asset("a", parent="middle")
    without_authority(world).asset("middle", parent="a")
    world.settle()
    assert [view(world, name)["tags"]["effective"] for name in ("middle", "a")] == [["PII"], ["PII"]]
    assert world.stored() == world.recomputed()


def test_the_path_of_what_comes_through_a_held_parent_is_explained(world: World, migrated: Migrated) -> None:
    world.asset("top", tags=["PII"])
    world.asset("middle", parent="top")
    world.asset("a", parent="middle")
    without_authority(world).asset("middle", parent=None)

    async def story(database: Any) -> Any:
        reader = AssetReader(database, TagRulesCache(database))
        found = await reader.find_many(world.tenant, [world.id_of("a")])
        return await derivations(database, found[world.id_of("a")])

    (found,) = with_database(migrated.url_of("lily_api"), story)
    assert found.path == tuple(world.id_of(name) for name in ("top", "middle", "a"))
    assert (found.kind, found.held, found.depth) == ("inherited", True, 0)


def test_what_was_restored_is_cut_again_only_with_authority(world: World, decided: DecidedTags) -> None:
    world.on_delete("cut")
    world.asset("a", tags=["PII"])
    world.asset("b")
    world.edge("a", "b")
    world.retire("a")
    world.settle()
    assert decided.of(world, ["b"]) == {"b": frozenset()}
    world.person("a", "restore")
    without_authority(world).person("a", "delete")
    world.settle()
    assert decided.of(world, ["b"]) == {"b": frozenset({"pii"})}
    with_authority(world).person("a", "delete")
    world.settle()
    assert decided.of(world, ["b"]) == {"b": frozenset()}


def test_deletion_cuts_only_with_authority(world: World, owner: psycopg.Connection) -> None:
    world.asset("a", tags=["PII"])
    world.asset("b")
    world.edge("a", "b")
    world.on_delete("cut")
    without_authority(world).person("a", "delete")
    world.settle()
    assert world.derived("pii") == {"b"}
    with_authority(world).person("a", "delete")
    world.settle()
    assert world.derived("pii") == set()
    assert world.stored() == world.recomputed()
    assert audit_of(owner, world) == [("ada", "tag.removed", world.id_of("a"), ["pii"], "propagated")]


def test_a_suppression_is_audited_once(world: World, owner: psycopg.Connection) -> None:
    world.asset("a")
    for _ in range(2):
        world.person("a", "suppress", tag="PII", reason="tokenised")
    assert audit_of(owner, world) == [("ada", "tag.suppressed", world.id_of("a"), ["pii"], "user")]


def test_while_the_lake_was_not_read_a_moved_column_is_one_of_both_tables(world: World, decided: DecidedTags) -> None:
    """PostgreSQL does not know that the column was part of the table in its name: only the lake does."""
    world.asset("people", tags=["PII"])
    world.asset("open")
    without_authority(world)
    world.typed("column", "people.email", parent="open")
    assert decided.of(world, ["people.email"]) == {"people.email": {"pii"}}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.lists(events(), min_size=1, max_size=12, unique_by=lambda event: event.id), random=st.randoms())
def test_every_order_of_arrival_ends_in_the_catalogue_of_the_oracle(
    migrated: Migrated, owner: psycopg.Connection, writer: CatalogueWriter, found: list[AssetEvent], random: Random
) -> None:
    tenant = f"t{ids.event_id().replace('-', '')[-12:]}"
    create_tenant(migrated.owner, tenant)
    mine = [AssetEvent(event.id, event.time, tenant, event.statement) for event in found]
    arrivals = mine + random.sample(mine, random.randint(0, len(mine)))
    random.shuffle(arrivals)
    stream = iter(arrivals)
    for batch in iter(lambda: list(islice(stream, random.randint(1, 4))), []):
        records = [(Record("held", 0, 0, event.time, b"", b""), event) for event in batch]
        writer.apply("held", {}, records, [])
    expected = oracle.catalogue(mine)
    parents = {ids.asset_id(tenant, name): name for name in PARENTS}
    asked = 'select qualified_name, source, enriched, "user", stated, held, held_parents::text[], parent from assets'
    for name, *layers, stated, held, held_parents, parent in owner.execute(f"{asked} where tenant_id = %s", [tenant]):
        by_layer = dict(zip(("source", "enriched", "user"), layers, strict=True))
        plain = {layer: as_oracle(fields, parents) for layer, fields in by_layer.items() if fields is not None}
        told = {layer: expected[tenant, name][layer] for layer in plain}
        assert plain == told
        shown = set().union(*(one.get("tags", set()) for one in told.values()))
        kept = set().union(*(one.get("held", set()) for one in told.values()))
        assert (set(stated), set(held or ())) == (shown | kept, kept - shown)
        assert {parents[one] for one in held_parents or ()} == parents_held(told) - {parents.get(parent or "")}


def parents_held(told: dict[str, dict[str, Any]]) -> set[str]:
    """Of the layers that no authorised statement of a parent covers."""
    found: set[str] = set()
    for layer in ("user", "enriched", "source"):
        one = told.get(layer, {})
        found |= {parent for parent in (one.get("parent"),) if parent} | one.get("held parents", set())
        if one.get("parent") and one.get("parent with authority"):
            break
    return found


@pytest.fixture(scope="module")
def writer(migrated: Migrated) -> Any:
    made = CatalogueWriter(migrated.url_of("lily_pipeline"))
    yield made
    made.close()
