"""What an asset was a moment ago is read from PostgreSQL: as it was read then, without waiting for the lake."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import psycopg
import pytest

from lily.api.http.errors import Declined
from lily.api.reads.as_of import NotRecordedYet
from tests.postgres.migrated import Migrated
from tests.postgres.past import COLUMN, TABLE, Past, pasts

Seen = dict[str, Any] | None


@pytest.fixture(scope="module")
def make_past(
    migrated: Migrated, owner: psycopg.Connection, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Past]]:
    with pasts(migrated, owner, tmp_path_factory.mktemp("pasts")) as make:
        yield make


@pytest.fixture
def past(make_past: Callable[[], Past]) -> Past:
    return make_past()


def read_at(past: Past, name: str, time: str) -> Seen:
    try:
        return past.read_at(name, time)
    except Declined as error:
        if error.status != 404:
            raise
        return None


def source(past: Past, name: str = TABLE, **more: Any) -> None:
    above = {"parent": TABLE} if name == COLUMN else {}
    past.state(name, attributes={"name": name.rpartition(".")[2], **above, **more})


def noted(past: Past, *names: str) -> list[tuple[str, str, Seen]]:
    """What the hot lane has made of everything, and when it was read. The lake does not follow."""
    past.apply()
    return [(name, past.now(), past.read(name)) for name in names]


def act(past: Past, random: Random) -> None:
    name, owner = random.choice([TABLE, COLUMN]), random.choice(["ada", "bob"])
    match random.choice(["source", "source", "owner", "tags", "delete", "suppress", "retired"]):
        case "source":
            source(past, name, owner=owner, tags=random.sample(["PII", "gold", "silver"], random.randint(0, 2)))
        case "owner":
            past.state(name, layer="user", attributes={"owner": random.choice([owner, None])})
        case "tags":
            past.state(name, layer="user", attributes={"tags": [random.choice(["PII", "silver"])]})
        case "delete":
            past.state(name, layer="user", operation=random.choice(["delete", "restore"]))
        case "suppress":
            past.state(name, authorised=False, attributes={"name": name.rpartition(".")[2]})
        case _:
            past.state(name, operation="delete", attributes={"name": name.rpartition(".")[2]})


@pytest.mark.parametrize("seed", range(3))
def test_every_moment_that_the_lake_has_not_reached_is_read_as_it_was(make_past: Callable[[], Past], seed: int) -> None:
    random, past = Random(seed), make_past()
    source(past)
    source(past, COLUMN)
    past.follow()
    moments = noted(past, TABLE, COLUMN)
    for _ in range(12):
        act(past, random)
        moments += noted(past, TABLE, COLUMN)
    unanswered = 0
    for name, time, seen in moments:
        try:
            found = read_at(past, name, time)
        except NotRecordedYet:
            unanswered += 1  # whether it was deleted depended on clocks, or the lake had a part of it
            continue
        assert without_last(found) == without_last(seen), (name, time)
    assert unanswered < len(moments) / 2


def without_last(seen: Seen) -> Seen:
    """Events that change nothing are not in the history, and an asset is updated by them too."""
    return None if seen is None else {key: value for key, value in seen.items() if key != "updated_at"}


def test_before_an_asset_was_stated_there_was_none(past: Past) -> None:
    past.follow()
    before = past.now()
    source(past)
    ((_, _, seen),) = noted(past, TABLE)
    assert (read_at(past, TABLE, before), read_at(past, TABLE, past.now())) == (None, seen)


def test_the_times_of_an_asset_are_those_of_then(past: Past) -> None:
    past.follow()
    source(past, owner="ada")
    ((_, time, seen),) = noted(past, TABLE)
    source(past, owner="bob")
    past.apply()
    assert past.read(TABLE) != seen
    assert read_at(past, TABLE, time) == seen


def test_a_column_that_only_the_lake_had_is_read_as_the_lake_had_it(past: Past) -> None:
    past.state(COLUMN, single=False, attributes={"name": "amount", "owner": "ada"})
    past.follow()
    time, seen = past.now(), past.read(COLUMN)
    past.state(COLUMN, layer="user", attributes={"owner": "bob"})
    past.apply()
    assert read_at(past, COLUMN, time) == seen


def test_what_came_from_the_lake_since_is_not_taken_for_what_postgresql_had(past: Past) -> None:
    past.state(COLUMN, single=False, attributes={"name": "amount", "owner": "ada"})
    fresh = past.follow()
    past.state(COLUMN, layer="user", attributes={"description": "in euros"})
    ((_, time, seen),) = noted(past, COLUMN)
    past.follow(fresh_as_of=fresh)  # promoted
    assert seen is not None
    with pytest.raises(NotRecordedYet):
        past.read_at(COLUMN, time)


def test_who_decides_about_a_deletion_by_clocks_waits_for_the_lake(past: Past) -> None:
    past.follow()
    past.state(TABLE, operation="delete", attributes={"name": "orders"})
    past.state(TABLE, layer="user", operation="restore")
    ((_, time, _),) = noted(past, TABLE)
    source(past, owner="ada")
    past.apply()
    with pytest.raises(NotRecordedYet):
        past.read_at(TABLE, time)


def test_a_late_event_may_have_changed_when_an_asset_was_first_stated(past: Past) -> None:
    past.follow()
    source(past)
    ((_, time, _),) = noted(past, TABLE)
    past.state(TABLE, time="2026-01-01T00:00:00.000000Z", attributes={"name": "orders", "description": "late"})
    past.apply()
    with pytest.raises(NotRecordedYet):
        past.read_at(TABLE, time)


def test_a_time_whose_history_has_left_postgresql_waits_for_the_lake(past: Past) -> None:
    past.follow()
    source(past, owner="ada")
    ((_, time, _),) = noted(past, TABLE)
    source(past, owner="bob")
    past.apply()
    assert past.archive(past.now()) == 2
    with pytest.raises(NotRecordedYet):
        past.read_at(TABLE, time)
