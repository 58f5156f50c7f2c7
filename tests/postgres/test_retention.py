"""What housekeeping deletes by age, and what it must not: what is not published, pending, or needed to be right."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest

from lily.bus import topics
from lily.store.postgres.connection import connect
from lily.store.postgres.dead_letters.records import claim, read_dead_letters, unreplayed
from lily.store.postgres.dead_letters.refused_records import without_refused
from lily.store.postgres.retention.sweeps import START, Place, Table, sweep
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

KEEP = timedelta(days=90)
OLD, YOUNG = "91 days", "89 days"
PROPAGATION = f"{topics.GOVERNANCE}@propagation"


@pytest.fixture
def pipeline(migrated: Migrated) -> Iterator[psycopg.Connection]:
    """As a worker is connected, so privileges count."""
    with connect(migrated.url_of("lily_pipeline"), "test") as connection:
        yield connection


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    return make_world()


def swept(connection: psycopg.Connection, table: Table, *, at_once: int = 5_000, place: Place | None = START) -> int:
    """A whole sweep. One in small steps ends at young rows, so it begins at those of the test."""
    deleted = steps = 0
    while place is not None:
        step = sweep(connection, table, KEEP, place, at_once)
        deleted, place, steps = deleted + step.deleted, step.next, steps + 1
        assert steps < 10_000, "it does not come to an end"
    return deleted


def a_batch(owner: psycopg.Connection, *, published: bool | None) -> int:
    """None: it was published so long ago that it is gone."""
    (batch,) = owner.execute(
        "insert into batches (published_at) values (case when %s then now() end) returning id", [published]
    ).fetchone() or (0,)
    if published is None:
        owner.execute("delete from batches where id = %s", [batch])
    return int(batch)


def aged(owner: psycopg.Connection, *batches: tuple[int, str], insert: str, **values: object) -> None:
    for batch, age in batches:
        owner.execute(insert, {"batch": batch, "age": age, "asset": uuid4(), **values})


PROPAGATED = (
    "insert into propagated (batch_id, tenant_id, tag, change, root, assets, committed_at)"
    " values (%(batch)s, %(tenant)s, 'pii', 'added', %(asset)s, '{}', now() - %(age)s::interval)"
)


def kept(owner: psycopg.Connection, tenant: str, table: str, shown: str) -> list[str]:
    rows = owner.execute(f"select {shown} from {table} where tenant_id = %s order by 1".encode(), [tenant])  # noqa: S608
    return [str(row[0]) for row in rows]


def test_tags_that_were_published_long_ago_are_deleted(
    pipeline: psycopg.Connection, owner: psycopg.Connection, world: World
) -> None:
    gone = [(a_batch(owner, published=None), age) for age in (OLD, OLD, OLD, YOUNG)]
    still = [(a_batch(owner, published=published), OLD) for published in (True, False)]
    aged(owner, *gone, *still, insert=PROPAGATED, tenant=world.tenant)
    swept(pipeline, "propagated", at_once=2, place=Place(gone[0][0] - 1, 0))
    assert kept(owner, world.tenant, "propagated", "batch_id") == [str(batch) for batch, _ in (gone[3], *still)]


def test_decisions_that_reads_of_the_past_need_are_kept(
    pipeline: psycopg.Connection, owner: psycopg.Connection, world: World
) -> None:
    insert = (
        "insert into decisions (batch_id, tenant_id, kind, name, by, committed_at)"
        " values (%(batch)s, %(tenant)s, %(kind)s, %(kind)s || %(age)s, 'ada', now() - %(age)s::interval)"
    )
    for kind in ("tag", "setting", "enforcement-drift"):
        batches = [(a_batch(owner, published=None), age) for age in (OLD, YOUNG)]
        aged(owner, *batches, insert=insert, tenant=world.tenant, kind=kind)
    swept(pipeline, "decisions")
    expected = {f"{kind}{age}" for kind in ("tag", "setting") for age in (OLD, YOUNG)} | {f"enforcement-drift{YOUNG}"}
    assert set(kept(owner, world.tenant, "decisions", "name")) == expected


def test_old_changes_of_edges_are_deleted_but_for_those_that_show_who_ended_what_conducts(
    pipeline: psycopg.Connection, owner: psycopg.Connection, world: World
) -> None:
    def change(*, held: bool, published: bool | None = None, age: str = OLD) -> str:
        aged(
            owner,
            (a_batch(owner, published=published), age),
            insert="insert into edge_changes (batch_id, tenant_id, from_id, to_id, type, after, causes, committed_at)"
            " values (%(batch)s, %(tenant)s, %(start)s, %(end)s, 'derived-from',"
            " jsonb_build_object('held', %(held)s::boolean), '[]', now() - %(age)s::interval)",
            tenant=world.tenant,
            start=world.id_of("a"),
            end=world.id_of("b"),
            held=held,
        )
        return kept(owner, world.tenant, "edge_changes", "position")[-1]

    world.asset("a")
    world.asset("b")
    world.edge("a", "b")
    (first,) = kept(owner, world.tenant, "edge_changes", "position")
    plain, held = change(held=False), change(held=True)
    unpublished, young = change(held=False, published=False), change(held=False, age=YOUNG)
    world.unlink("a", "b", authorised=False)
    last = kept(owner, world.tenant, "edge_changes", "position")[-1]
    swept(pipeline, "edge_changes")
    assert kept(owner, world.tenant, "edge_changes", "position") == [first, held, unpublished, young, last]
    world.unlink("a", "b")
    swept(pipeline, "edge_changes")
    assert held not in kept(owner, world.tenant, "edge_changes", "position")
    assert plain not in kept(owner, world.tenant, "edge_changes", "position")


def test_old_receipts_of_propagation_are_deleted(
    pipeline: psycopg.Connection, owner: psycopg.Connection, world: World
) -> None:
    for position, age in enumerate((OLD, OLD, OLD, OLD, YOUNG)):
        owner.execute(
            "insert into propagations (tenant_id, position, root, reached, depth, started_at, finished_at)"
            " values (%s, %s, %s, 1, 1, now(), now() - %s::interval)",
            [world.tenant, position, uuid4(), age],
        )
    assert swept(pipeline, "propagations", at_once=2) >= 4
    assert kept(owner, world.tenant, "propagations", "position") == ["4"]


class Letters:
    """Dead letters of a tenant, named by what they were refused for."""

    def __init__(self, owner: psycopg.Connection, tenant: str) -> None:
        self._owner, self._tenant, self._offset = owner, tenant, uuid4().int % 2**40
        self.offsets: dict[str, int] = {}

    def add(self, name: str, topic: str, age: str = OLD, *, replayed: bool = False, published: bool = True) -> int:
        self._offset += 1
        self.offsets[name] = self._offset
        batch = a_batch(self._owner, published=None if published else False)
        (letter,) = self._owner.execute(
            'insert into dead_letters (batch_id, tenant_id, topic, partition, "offset", key, original, errors,'
            " refused_at, replayed_at) values (%s, %s, %s, 0, %s, %s, 'the original',"
            " jsonb_build_array(jsonb_build_object('code', %s::text)), now() - %s::interval,"
            " case when %s then now() end) returning id",
            [batch, self._tenant, topic, self._offset, f"{self._tenant}/{name}".encode(), name, age, replayed],
        ).fetchone() or (0,)
        return int(letter)

    def stored(self) -> dict[str, bool]:
        """By name, whether it has its original."""
        asked = "select errors -> 0 ->> 'code', original is not null from dead_letters where tenant_id = %s"
        return dict(self._owner.execute(asked, [self._tenant]).fetchall())


@pytest.fixture
def letters(owner: psycopg.Connection, world: World) -> Letters:
    return Letters(owner, world.tenant)


def test_old_dead_letters_are_deleted_but_for_what_is_pending(pipeline: psycopg.Connection, letters: Letters) -> None:
    letters.add("old", topics.LINEAGE_INTAKE)
    letters.add("replayed", "jobs", replayed=True)
    letters.add("young", topics.LINEAGE_INTAKE, YOUNG)
    letters.add("not published", topics.USAGE, published=False)
    letters.add("propagation", PROPAGATION)
    letters.add("propagated", PROPAGATION, replayed=True)
    swept(pipeline, "dead_letters", at_once=2)
    assert letters.stored() == {"young": True, "not published": True, "propagation": True}


def test_a_refused_record_that_the_lake_has_stays_known_without_its_original(
    pipeline: psycopg.Connection, letters: Letters, migrated: Migrated, world: World
) -> None:
    hot = letters.add("hot", topics.ASSETS)
    letters.add("bulk", topics.ASSETS_BULK)
    young = letters.add("young", topics.ASSETS, YOUNG)
    swept(pipeline, "dead_letters", at_once=2)
    assert swept(pipeline, "dead_letters", at_once=2) == 0
    assert letters.stored() == {"hot": False, "bulk": False, "young": True}

    class Recorded:
        def __init__(self, name: str, topic: str) -> None:
            self.topic, self.partition, self.offset = topic, 0, letters.offsets[name]

    records = [Recorded("hot", topics.ASSETS), Recorded("bulk", topics.ASSETS_BULK)]
    assert migrated.as_api(lambda database: without_refused(database, world.tenant, records)) == []
    listed = migrated.as_api(lambda database: read_dead_letters(database, world.tenant, below=None, limit=10))
    assert [letter.id for letter in listed] == [young]
    waiting = migrated.as_api(
        lambda database: unreplayed(database, world.tenant, ids=None, above=0, newest=2**62, limit=10)
    )
    assert [letter.id for letter in waiting] == [young]
    (found,) = listed
    claimed = migrated.as_api(lambda database: claim(database, world.tenant, [hot, young], found.refused_at))
    assert [letter.id for letter in claimed] == [young]


def test_of_the_old_commits_of_the_lake_the_last_of_each_hour_stays(pipeline: psycopg.Connection) -> None:
    times = {
        1: "91 days -10 min",
        2: "91 days -50 min",
        3: "91 days -70 min",
        4: "91 days -80 min",
        5: "80 days",
        6: "80 days",
    }
    with pipeline.transaction(force_rollback=True):
        pipeline.execute("delete from lake_batches")
        for number, age in times.items():
            pipeline.execute(
                "insert into lake_batches (number, committed_at, events, positions)"
                " values (%s, date_trunc('hour', now()) - %s::interval, 0, '{}')",
                [number, age],
            )
        assert swept(pipeline, "lake_batches", at_once=2) == 2
        left = pipeline.execute("select number from lake_batches order by number").fetchall()
    assert [number for (number,) in left] == [2, 4, 5, 6]


def test_the_newest_commit_of_the_lake_stays_however_old_it_is(pipeline: psycopg.Connection) -> None:
    with pipeline.transaction(force_rollback=True):
        pipeline.execute("delete from lake_batches")
        pipeline.execute(
            "insert into lake_batches (number, committed_at, events, positions)"
            " select n, now() - interval '200 days', 0, '{}' from generate_series(1, 4) n"
        )
        assert swept(pipeline, "lake_batches", at_once=2) == 3
        assert pipeline.execute("select number from lake_batches").fetchall() == [(4,)]


INCIDENT = (
    "insert into incidents (tenant_id, incident_id, source, external_id, state, severity, opened_at, updated_at)"
    " values (%s, %s, 'test', %s, %s, 'info', now(), now() - %s::interval)"
)


def test_old_incidents_of_which_nothing_is_left_are_deleted(
    pipeline: psycopg.Connection, owner: psycopg.Connection, make_world: Callable[[], World]
) -> None:
    one, other = make_world().tenant, make_world().tenant
    shared = uuid4()
    found = {name: uuid4() for name in ("message", "notification", "risk", "open", "young")} | {"gone": shared}
    for name, incident in found.items():
        owner.execute(
            INCIDENT, [one, incident, name, "open" if name == "open" else "resolved", YOUNG if name == "young" else OLD]
        )
        owner.execute("insert into incident_assets values (%s, %s, %s)", [one, incident, uuid4()])
    owner.execute(INCIDENT, [other, shared, "another tenant's", "resolved", YOUNG])
    owner.execute("insert into incident_assets values (%s, %s, %s)", [other, shared, uuid4()])
    owner.execute("insert into incident_history values (%s, %s, 'e', now(), '', '{}')", [one, found["message"]])
    owner.execute("insert into at_risk values (%s, %s, %s, null)", [one, uuid4(), found["risk"]])
    owner.execute(
        "insert into notifications (tenant_id, notification_id, event_id, at, kind, severity, title, text, incident_id,"
        " event) values (%s, %s, 'e', now(), 'k', 'info', '', '', %s, '{}')",
        [one, uuid4(), found["notification"]],
    )
    swept(pipeline, "incidents", at_once=2)
    assert kept(owner, one, "incidents", "external_id") == ["message", "notification", "open", "risk", "young"]
    assert len(kept(owner, one, "incident_assets", "incident_id")) == 5
    assert kept(owner, other, "incidents", "external_id") == ["another tenant's"]
    assert len(kept(owner, other, "incident_assets", "incident_id")) == 1
