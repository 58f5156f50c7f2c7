"""A history that has left PostgreSQL by age is read from the lake's events, as it was told before."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import psycopg
import pytest

from lily.store.postgres.table_changes.ledger import TableLedger
from tests.postgres.migrated import Migrated
from tests.postgres.past import COLUMN, TABLE, Past, Told, pasts


@pytest.fixture(scope="module")
def make_past(
    migrated: Migrated, owner: psycopg.Connection, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Past]]:
    with pasts(migrated, owner, tmp_path_factory.mktemp("pasts")) as make:
        yield make


@pytest.fixture
def past(make_past: Callable[[], Past]) -> Past:
    return make_past()


def attributes(name: str, **more: object) -> dict[str, object]:
    return {"name": name.rpartition(".")[2], **more}


def test_what_has_left_postgresql_is_read_from_the_lake(past: Past) -> None:
    past.state(TABLE, attributes=attributes(TABLE, owner="ada"))
    past.state(TABLE, attributes=attributes(TABLE, owner="bob"))
    middle = past.follow()
    past.state(TABLE, layer="user", attributes={"owner": "cyd"})
    past.state(TABLE, attributes=attributes(TABLE, owner="dan"))
    past.follow()
    whole = past.history(TABLE, 10)
    assert [one.what["owner"]["to"] for one in whole] == ["dan", "cyd", "bob", "ada"]
    assert past.archive(middle) == 2
    assert [past.history(TABLE, size) for size in (1, 2, 3, 10)] == [whole] * 4


def statement(past: Past, random: Random, name: str) -> Callable[[], object]:
    """In either lane, by a source or a person, on time or late."""
    owner = random.choice(["ada", "bob", "cyd"])
    late = random.choice(["", "", f"2026-01-{random.randint(1, 28):02}T00:00:00.000000Z"])
    kind = random.choice(["source", "source", "source", "user", "tags", "delete", "restore", "retired"])
    match kind:
        case "source":
            more = {"parent": TABLE} if name == COLUMN else {}
            return lambda: past.state(
                name, time=late, single=random.random() < 0.5, attributes=attributes(name, owner=owner, **more)
            )
        case "user":
            return lambda: past.state(name, layer="user", attributes={"owner": owner})
        case "tags":
            return lambda: past.state(name, layer="user", attributes={"tags": random.sample(["PII", "gold"], 1)})
        case "retired":
            return lambda: past.state(name, time=late, operation="delete", attributes=attributes(name))
        case _:
            return lambda: past.state(name, layer="user", operation=kind)


def values(told: list[Told]) -> set[tuple[str, str, str]]:
    """By layer and field, the values that it ever had."""
    return {(one.layer, field, repr(step["to"])) for one in told for field, step in one.what.items()}


@pytest.mark.parametrize("seed", range(4))
def test_no_change_is_missing_or_shown_twice_whatever_has_left_postgresql(
    make_past: Callable[[], Past], seed: int
) -> None:
    random, past = Random(seed), make_past()
    past.state(TABLE, attributes=attributes(TABLE))
    past.state(COLUMN, single=False, attributes=attributes(COLUMN, parent=TABLE))
    times = [past.follow()]
    for _ in range(12):
        name = random.choice([TABLE, COLUMN])
        statement(past, random, name)()
        # Two lanes may meet in PostgreSQL in another order than in the log.
        if name == COLUMN or random.random() < 0.7:
            times.append(past.follow())
    past.follow()
    whole = {name: past.history(name, 100) for name in (TABLE, COLUMN)}
    twice = Counter(event for one in whole[COLUMN] for event in one.events)
    for time in sorted(random.sample(times, min(3, len(times)))):
        # It may leave PostgreSQL while somebody reads it page by page.
        told = past.history(TABLE, random.randint(1, 4), partial(past.archive, time))
        assert told == whole[TABLE]
        assert past.history(TABLE, random.randint(1, 4)) == whole[TABLE]
        # Promotion may have made one change of several events, and it names one that may have made a change before.
        found = past.history(COLUMN, random.randint(1, 4))
        assert values(found) >= values(whole[COLUMN])
        shown = Counter(event for one in found for event in one.events)
        assert not shown - Counter(dict.fromkeys(shown, 1)) - twice


def test_only_what_the_lake_has_recorded_leaves_postgresql(past: Past) -> None:
    past.state(TABLE, attributes=attributes(TABLE, owner="ada"))
    first = past.follow()
    past.state(TABLE, attributes=attributes(TABLE, owner="bob"))
    second = past.follow()
    assert past.archive(second, recorded=first) == 1


def test_what_is_not_published_stays(past: Past) -> None:
    past.state(TABLE, attributes=attributes(TABLE, owner="ada"))
    time = past.follow()
    assert past.archive(time, published=False) == 0
    assert past.archive(time) == 1


def test_who_took_away_what_is_held_stays_known(past: Past) -> None:
    past.state(TABLE, attributes=attributes(TABLE, tags=["PII"]))
    past.state(TABLE, authorised=False, by="mallory", attributes=attributes(TABLE, tags=[]))
    past.state(TABLE, attributes=attributes(TABLE, tags=[], owner="ada"), authorised=False)
    time = past.follow()
    whole, ended = past.history(TABLE, 10), past.ended(TABLE, "pii")
    assert ended == "mallory"
    assert past.archive(time) == 1
    assert (past.history(TABLE, 10), past.ended(TABLE, "pii")) == (whole, ended)
    past.state(TABLE, attributes=attributes(TABLE, tags=[]))  # with authority
    assert past.archive(past.follow()) >= 2


def test_another_tenants_history_is_read_from_where_it_is(make_past: Callable[[], Past]) -> None:
    one, other = make_past(), make_past()
    for past in (one, other):
        past.state(TABLE, attributes=attributes(TABLE, owner="ada"))
    time = [past.follow() for past in (one, other)][-1]
    whole = other.history(TABLE, 10)
    assert one.archive(time) == 1
    assert other.stored_changes() == 1
    assert other.history(TABLE, 10) == whole


def test_who_has_stated_an_asset_stays_known(past: Past, migrated: Migrated) -> None:
    past.state(TABLE, attributes=attributes(TABLE, owner="ada"))
    past.state(COLUMN, attributes=attributes(COLUMN, parent=TABLE))
    past.state(COLUMN, by="others", attributes=attributes(COLUMN, parent=TABLE, data_type="text"))
    time = past.follow()
    with psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True) as pipeline:
        ledger = TableLedger(pipeline, past.tenant)
        before = ledger.stated_by_others([TABLE, COLUMN], "me")
        assert past.archive(time) == 3
        assert ledger.stated_by_others([TABLE, COLUMN], "me") == before == {COLUMN}
        assert ledger.stated_by_others([TABLE, COLUMN], "you") == {TABLE, COLUMN}
        past.state(TABLE, attributes=attributes(TABLE, owner="bob"))
        assert past.archive(past.follow()) == 1
        assert ledger.stated_by_others([TABLE, COLUMN], "me") == before
        past.state(TABLE, by="others", attributes=attributes(TABLE, owner="ada"))
        assert past.archive(past.follow()) == 1
        assert ledger.stated_by_others([TABLE, COLUMN], "me") == {TABLE, COLUMN}
