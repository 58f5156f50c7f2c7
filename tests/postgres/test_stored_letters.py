"""Dead letters and the history as they are read, claimed and paged: of one tenant, once, without a gap."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest

from lily.bus import topics
from lily.model import clock
from lily.model.errors import Problem
from lily.model.records import Record, Refusal
from lily.store.postgres.catalogue.history import changes_of
from lily.store.postgres.dead_letters.records import (
    claim,
    errors_at,
    read_dead_letters,
    undo_claim,
    unreplayed,
)
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NEWEST = 2**62


@pytest.fixture
def letters(make_world: Callable[[], World], owner: psycopg.Connection) -> tuple[World, list[int], World]:
    """A tenant with three dead letters, their ids, and a tenant that has one of its own."""
    world, other = make_world(), make_world()
    first = uuid4().int >> 70
    for number, tenant in enumerate([world.tenant] * 3 + [other.tenant]):
        record = Record(topics.ASSETS, 0, first + number, clock.now(), f"{tenant}/x".encode(), b"{")
        world.store.apply(topics.ASSETS, {}, [], [Refusal(record, tenant, (Problem("X", str(number), ""),))])
    rows = owner.execute("select id from dead_letters where tenant_id = %s order by id", [world.tenant]).fetchall()
    return world, [letter for (letter,) in rows], other


def test_a_list_of_letters_is_paged_without_a_gap(migrated: Migrated, letters: tuple[World, list[int], World]) -> None:
    world, known, _ = letters

    def page(below: int | None) -> list[int]:
        read = migrated.as_api(lambda database: read_dead_letters(database, world.tenant, below=below, limit=2))
        return [letter.id for letter in read]

    assert (page(None), page(known[1]), page(known[0])) == ([known[2], known[1]], [known[0]], [])


def test_a_letter_is_claimed_once_and_can_be_claimed_again_after_an_undo(
    migrated: Migrated, letters: tuple[World, list[int], World]
) -> None:
    world, known, other = letters

    def claimed(at: datetime, tenant: str = world.tenant) -> list[int]:
        found = migrated.as_api(lambda database: claim(database, tenant, known[:2], at))
        return [letter.id for letter in found]

    def waiting() -> list[int]:
        found = migrated.as_api(
            lambda database: unreplayed(database, world.tenant, ids=None, above=0, newest=NEWEST, limit=10)
        )
        return [letter.id for letter in found]

    assert claimed(NOW, other.tenant) == []
    assert claimed(NOW) == known[:2]
    assert claimed(NOW) == known[:2], "the same claim again"
    assert claimed(NOW + timedelta(seconds=1)) == [], "another claim"
    assert waiting() == [known[2]]
    migrated.as_api(lambda database: undo_claim(database, world.tenant, known[:1], NOW + timedelta(seconds=1)))
    assert waiting() == [known[2]], "not of this claim"
    migrated.as_api(lambda database: undo_claim(database, world.tenant, known[:1], NOW))
    assert waiting() == [known[0], known[2]]


def test_the_next_letters_begin_after_the_last_and_end_with_the_newest(
    migrated: Migrated, letters: tuple[World, list[int], World]
) -> None:
    world, known, _ = letters

    def between(above: int, newest: int, chosen: list[int] | None = None) -> list[int]:
        found = migrated.as_api(
            lambda database: unreplayed(database, world.tenant, ids=chosen, above=above, newest=newest, limit=10)
        )
        return [letter.id for letter in found]

    assert between(known[0], known[1]) == [known[1]]
    assert between(0, NEWEST, known[1:2]) == [known[1]]


def test_the_errors_of_a_record_are_shown_to_its_tenant(
    migrated: Migrated, letters: tuple[World, list[int], World], owner: psycopg.Connection
) -> None:
    world, known, other = letters
    row = owner.execute('select partition, "offset" from dead_letters where id = %s', known[:1]).fetchone()
    assert row is not None

    def errors(tenant: str) -> list[str]:
        found = migrated.as_api(lambda database: errors_at(database, tenant, topics.ASSETS, [row], 10))
        return [error["description"] for error in found]

    assert (errors(world.tenant), errors(other.tenant)) == (["0"], [])


def test_a_history_is_paged_without_a_gap(migrated: Migrated, make_world: Callable[[], World]) -> None:
    world, other = make_world(), make_world()
    for owner in ("ada", "bob", "cyd"):
        world.asset("a", owner=owner)
    other.asset("a", owner="eve")

    def page(below: int | None, tenant: str = world.tenant) -> list[tuple[int, str]]:
        asset = world.id_of("a")
        found = migrated.as_api(lambda database: changes_of(database, tenant, asset, below=below, limit=2))
        return [(change.position, change.after["owner"]) for change in found]

    first = page(None)
    assert [owner for _, owner in first] == ["cyd", "bob"]
    assert [owner for _, owner in page(first[-1][0])] == ["ada"]
    assert page(None, other.tenant) == [], "the id is of another tenant"
