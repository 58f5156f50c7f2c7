"""Events in any order, repeated and in batches of any size end in the catalogue that the oracle computes.

`tests/integration/test_convergence.py` searches for a counter-example for longer; this is its short form.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from random import Random
from typing import Any

import psycopg
import pytest

from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.statements import read_statement
from lily.store.postgres.catalogue.writer import CatalogueWriter
from tests import oracle
from tests.integration.test_convergence import comparable, stored
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

ASSETS = 12
_offsets = count()


@pytest.fixture
def writer(migrated: Migrated) -> Iterator[CatalogueWriter]:
    with closing(CatalogueWriter(migrated.url_of("lily_pipeline"))) as found:
        yield found


def feed(writer: CatalogueWriter, events: list[AssetEvent]) -> int:
    records = [(Record("merge", 0, next(_offsets), event.time, b"", b""), event) for event in events]
    return writer.apply("merge", {}, records, []).changed


def statement(random: Random) -> dict[str, Any]:
    layer = random.choice(["source", "source", "user", "enriched"])
    some = {
        "owner": random.choice(["ada", "bob", None]),
        "tags": random.sample(["x", "y", "Z", "z"], random.randrange(4)),
        "description": random.choice(["one", "two", None]),
    }
    attributes = {key: some[key] for key in random.sample(sorted(some), random.randrange(1, 4))}
    data: dict[str, Any] = {"layer": layer, "qualified_name": f"db.t{random.randrange(ASSETS)}", "authorised": True}
    if layer == "source":
        operation = random.choice(["upsert", "upsert", "upsert", "delete"])
        return data | {"operation": operation, "entity_type": "table", "attributes": attributes | {"name": "t"}}
    if random.random() < 0.5:
        return data | {"operation": random.choice(["tag", "untag"]), "tag": random.choice(["x", "y"]), "attributes": {}}
    if layer == "user" and random.random() < 0.3:
        return data | {"operation": random.choice(["delete", "restore"]), "attributes": {}}
    return data | {"operation": "upsert", "attributes": attributes}


def history(random: Random, tenant: str, number: int) -> list[AssetEvent]:
    return [
        AssetEvent(
            str(uuid.UUID(int=random.getrandbits(128))),
            f"2026-01-01T00:00:0{random.randrange(8)}.000000Z",
            tenant,
            read_statement(statement(random), tenant=tenant),
        )
        for _ in range(number)
    ]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_order_and_repetition_ends_in_the_oracles_catalogue(
    migrated: Migrated, writer: CatalogueWriter, make_world: Callable[[], World], seed: int
) -> None:
    random, tenant = Random(seed), make_world().tenant
    events = history(random, tenant, 200)
    arriving = events + random.sample(events, 80)
    random.shuffle(arriving)
    while arriving:
        size = random.randint(1, 6)
        feed(writer, arriving[:size])
        arriving = arriving[size:]
    assert comparable(stored(migrated.owner, tenant)) == oracle.catalogue(events)
    assert feed(writer, events) == 0, "a replay changes nothing"


def test_every_change_joins_on_to_the_one_before(
    writer: CatalogueWriter, make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    """The history of a layer begins with nothing, has no gap, and ends with what is stored."""
    random, tenant = Random(4), make_world().tenant
    for event in history(random, tenant, 120):
        feed(writer, [event])
    rows = owner.execute(
        "select asset_id, layer, before, after, version from changes where tenant_id = %s order by position", [tenant]
    ).fetchall()
    known: dict[tuple[Any, str], Any] = {}
    versions: dict[Any, int] = {}
    for asset, layer, before, after, version in rows:
        assert (before or None) == (known.get((asset, layer)) or None)
        assert before != after
        assert version >= versions.get(asset, 0)
        known[asset, layer], versions[asset] = after, version
    stored_layers = owner.execute('select id, source, enriched, "user" from assets where tenant_id = %s', [tenant])
    layers = {
        (asset, name): fields
        for asset, *all_fields in stored_layers
        for name, fields in zip(("source", "enriched", "user"), all_fields, strict=True)
        if fields
    }
    assert layers == {place: fields for place, fields in known.items() if fields}


def test_events_of_two_tenants_about_the_same_names_do_not_meet(
    migrated: Migrated, writer: CatalogueWriter, make_world: Callable[[], World]
) -> None:
    random = Random(5)
    tenants = [make_world().tenant for _ in range(2)]
    events = [history(random, tenant, 60) for tenant in tenants]
    mixed = [*events[0], *events[1]]
    random.shuffle(mixed)
    feed(writer, mixed)
    for tenant, own in zip(tenants, events, strict=True):
        assert comparable(stored(migrated.owner, tenant)) == oracle.catalogue(own)


def test_a_tag_of_a_person_is_found_if_the_source_states_that_there_are_none(
    make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    world = make_world()
    for tags, shown in (([], ["mine"]), (["public"], ["public"]), (None, ["mine"])):
        world.asset("a", **({} if tags is None else {"tags": tags}))
        world.person("a", "tag", tag="mine")
        asked = "select tags from assets where tenant_id = %s and id = %s"
        assert owner.execute(asked, [world.tenant, world.id_of("a")]).fetchone() == (shown,)
        world = make_world()


def test_a_newer_statement_of_the_same_values_is_no_change(
    writer: CatalogueWriter, make_world: Callable[[], World]
) -> None:
    tenant = make_world().tenant
    data = {"entity_type": "table", "qualified_name": "db.t", "attributes": {"name": "t", "owner": "ada"}}
    stated = read_statement(data, tenant=tenant)
    events = [AssetEvent(str(uuid.uuid4()), f"2026-01-01T00:00:0{tick}.000000Z", tenant, stated) for tick in range(2)]
    assert [feed(writer, [event]) for event in events] == [1, 0]
