"""What was refused does not count when the past of an asset is put together from the records in the lake."""

from collections.abc import Callable
from datetime import timedelta

import orjson

from lily.bus import topics
from lily.model import clock, ids
from lily.model.errors import Problem
from lily.model.events import AssetEvent
from lily.model.records import Record, Refusal
from lily.model.statements import read_statement
from lily.store.lake.event_replay import state_at
from lily.store.lake.scans import LakeEvent
from lily.store.postgres.dead_letters.refused_records import without_refused
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

NAME, OFFSET = "shop.people", 5_000_000


def record(tenant: str, offset: int, owner: str) -> Record:
    data = {"entity_type": "table", "qualified_name": NAME, "attributes": {"name": NAME, "owner": owner}}
    event = AssetEvent(ids.event_id(), clock.now(), tenant, read_statement(data, tenant=tenant))
    return Record(topics.ASSETS, 0, offset, clock.now(), event.key, orjson.dumps(event.as_cloudevent()))


def test_as_of_leaves_out_what_was_refused(make_world: Callable[[], World], migrated: Migrated) -> None:
    world, other = make_world(), make_world()
    applied, refused = record(world.tenant, OFFSET, "ada"), record(world.tenant, OFFSET + 1, "mallory")
    problem = Problem("FORBIDDEN", "removes a protective tag", NAME)
    world.store.apply(topics.ASSETS, {}, [], [Refusal(refused, world.tenant, (problem,))])
    in_lake = [
        LakeEvent(r.received, r.topic, r.partition, r.offset, 1, (r.value or b"").decode()) for r in (applied, refused)
    ]
    assert migrated.as_api(lambda database: without_refused(database, other.tenant, in_lake)) == in_lake
    left = migrated.as_api(lambda database: without_refused(database, world.tenant, in_lake))
    past = state_at(world.tenant, world.id_of(NAME), left, lambda _: True, timedelta(minutes=5))
    assert past is not None
    assert past.state.layers["source"].fields["owner"] == "ada"
