"""An asset that never lost a tag has had it since the same time, also if one of the ways that lead there ends."""

from collections.abc import Callable
from datetime import datetime

import psycopg
import pytest

from tests.lineage_world import World

SCHEMA, FIRST, SECOND, THIRD = "shop.crm", "shop.orders", "shop.crm.people", "reports.mail"


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    """orders (PII) → people → mail."""
    world = make_world()
    world.define("pii")
    world.asset(FIRST, tags=["pii"])
    world.typed("schema", SCHEMA)
    world.asset(SECOND, parent=SCHEMA)
    world.edge(FIRST, SECOND)
    world.edge(SECOND, THIRD)
    return world


def since(owner: psycopg.Connection, world: World, name: str) -> datetime:
    asked = "select since from derived_tags where tenant_id = %s and asset_id = %s"
    ((found,),) = owner.execute(asked, [world.tenant, world.id_of(name)]).fetchall()
    assert isinstance(found, datetime)
    return found


def test_where_an_asset_on_the_way_states_the_tag_itself(world: World, owner: psycopg.Connection) -> None:
    world.settle()
    before = since(owner, world, THIRD)
    world.asset(SECOND, parent=SCHEMA, tags=["pii"])
    world.settle()
    assert since(owner, world, THIRD) == before


def test_where_an_asset_on_the_way_has_the_tag_in_another_way_too(world: World, owner: psycopg.Connection) -> None:
    world.typed("schema", SCHEMA, tags=["pii"])
    world.settle()
    before = since(owner, world, THIRD)
    world.unlink(FIRST, SECOND)
    world.settle()
    assert since(owner, world, THIRD) == before
