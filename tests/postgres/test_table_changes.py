"""Tables that are renamed, exchanged or dropped, and columns that are gone, as the worker carries them out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import psycopg
import pytest
from prometheus_client import CollectorRegistry

from lily.bus import topics
from lily.lineage.marks import AssetMark, EdgeMark
from lily.model import clock
from lily.model.edges import ClaimsEvent, EdgeEvent, read_claims_event, read_edge_event
from lily.model.events import AssetEvent, read_event
from lily.model.records import Record
from lily.model.run_queries import QuerySender
from lily.model.states import AssetState
from lily.reactions.jobs import Task
from lily.reactions.jobs.metrics import JobMetrics
from lily.reactions.jobs.slot import _JobRunner
from lily.reactions.table_changes import ChangingTables
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.jobs.queue import Group, JobQueue
from lily.store.postgres.table_changes.queueing import TASK
from tests.lineage_world import World
from tests.openlineage_words import dataset, run_event, schema
from tests.postgres.migrated import Migrated
from tests.postgres.test_run_query_rights import Policies

_RECORD = Record(topics.ASSETS, 0, 0, clock.now(), None, None)
BOB = QuerySender("bob", (), "")


READERS = {AssetEvent: read_event, ClaimsEvent: read_claims_event, EdgeEvent: read_edge_event}


class Lake:
    """What the lake has below tables."""

    def __init__(self) -> None:
        self.states: dict[str, list[AssetState]] = {}

    def add(self, tenant: str, table: str, column: str, **attributes: Any) -> None:
        about = {"name": column, "parent": table, **attributes}
        said = {"entity_type": "column", "qualified_name": f"{table}.{column}", "attributes": about}
        self.states.setdefault(table, []).append(AssetState.of(_event(tenant, said)))

    def children(self, _: psycopg.Connection[Any], __: str, names: Sequence[str]) -> dict[str, list[AssetState]]:
        return {name: self.states.get(name, []) for name in names}


def _event(tenant: str, said: dict[str, Any]) -> AssetEvent:
    envelope = {"specversion": "1.0", "id": "e", "source": "test", "type": "lily.asset.stated", "tenantid": tenant}
    return read_event({**envelope, "time": "2026-01-01T09:00:00Z", "data": said}, received=clock.now())


class Tables:
    """A tenant whose tables change. `work` is the worker's turn."""

    def __init__(self, world: World, connection: psycopg.Connection[Any], writer: CatalogueWriter) -> None:
        self.world, self.lake, self._connection, self._writer = world, Lake(), connection, writer
        self.appended: list[tuple[str, AssetEvent | ClaimsEvent | EdgeEvent]] = []
        self.registry = CollectorRegistry()
        changing = ChangingTables(self.registry, self.appended.extend, lambda: self.lake)
        self._queue = JobQueue(connection)
        self._runner = _JobRunner(connection, self._queue, {TASK: Task(TASK, changing.run)}, JobMetrics(self.registry))
        connection.execute(
            "insert into lake_progress (fresh_as_of, batch) values ('infinity', 1) "
            "on conflict (one) do update set fresh_as_of = 'infinity'"
        )

    def take(self, minute: int, *outputs: dict[str, Any], **more: Any) -> None:
        event = run_event(eventTime=f"2026-01-01T10:{minute:02}:00Z", outputs=list(outputs), inputs=[])
        self.world.take(event, **more)

    def work(self) -> None:
        self.world.state_what_rules_say()
        ready = self._queue.ready([TASK], [], 100)
        for group in (group for group in ready.groups if group.tenant == self.world.tenant):
            while jobs := self._queue.first(group, [TASK], 1):
                assert self._runner.run(jobs[0])
        for topic, stated in self.appended:
            read: Any = READERS[type(stated)]
            event = read(orjson.loads(orjson.dumps(stated.as_cloudevent())), received=clock.now())
            self._writer.apply(topic, {}, [(_RECORD, event)], [])
            if isinstance(event, AssetEvent):
                self.world.marks.assets.append(AssetMark(event.asset_id))
        self.appended.clear()
        self.world.state_what_rules_say()
        self.world.marks.edges += [EdgeMark(*key[:2]) for key in self.world.edge_keys()]
        self.world.settle()

    def waiting(self) -> bool:
        groups = self._queue.ready([TASK], [], 100).groups
        return any(group.tenant == self.world.tenant for group in groups)

    def count(self, outcome: str) -> float:
        return self.registry.get_sample_value("lily_table_changes_total", {"outcome": outcome}) or 0

    @property
    def group(self) -> Group:
        return next(group for group in self._queue.ready([TASK], [], 100).groups if group.tenant == self.world.tenant)


@pytest.fixture
def tables(migrated: Migrated, make_world: Callable[[], World]) -> Iterator[Tables]:
    url = migrated.url_of("lily_pipeline")
    with psycopg.connect(url, autocommit=True) as connection, closing(CatalogueWriter(url)) as writer:
        yield Tables(make_world(), connection, writer)
    with psycopg.connect(migrated.owner) as owner:
        owner.execute("delete from lake_progress")  # other tests share the database


def renamed(old: str, new: str, **facets: Any) -> dict[str, Any]:
    return dataset(new, lifecycleStateChange=change("RENAME", dataset(old)), **facets)


def change(what: str, previous: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"lifecycleStateChange": what, **({"previousIdentifier": previous} if previous else {})}


def crawled(world: World, table: str, *columns: str, tagged: str = "") -> None:
    """As a connector states it."""
    world.typed("table", table, data_source="crm", time=None)
    for number, column in enumerate(columns, 1):
        tags = {"tags": ["PII"]} if column == tagged else {}
        world.column(f"{table}.{column}", table, ordinal_position=number, **tags)


def age(tables: Tables) -> None:
    """The catalogue's statements of this test are of now; those of its events are of 2026-01-01."""
    changed = "update assets set created_at = %s, updated_at = %s where tenant_id = %s"
    early = datetime(2025, 1, 1, tzinfo=UTC)
    tables.world._owner.execute(changed, [early, early + timedelta(days=1), tables.world.tenant])


def test_the_columns_that_the_catalogue_knows_follow_a_table_to_its_new_name(tables: Tables) -> None:
    tables.take(1, dataset("t", schema=schema("x", "y")))
    tables.world.person("t.y", "upsert", attributes={"tags": ["PII"]})
    age(tables)
    tables.take(2, renamed("t", "u"))
    tables.work()
    assert (tables.world.live("table"), tables.world.live("column")) == ({"u"}, {"u.x", "u.y"})
    assert tables.world.derived("pii") == {"u.y"}
    assert tables.world.shown("u", "renamed_from") == "t"
    assert tables.world.shown("u.x", "parent") == "u"


def test_columns_that_only_the_lake_has_follow_too(tables: Tables) -> None:
    tables.take(1, dataset("t"))
    tables.lake.add(tables.world.tenant, "t", "x", data_type="struct<a int>", ordinal_position=1)
    tables.lake.add(tables.world.tenant, "t.x", "a", data_type="int")
    tables.take(2, renamed("t", "u"))
    tables.work()
    assert tables.world.live("column") == {"u.x", "u.x.a"}
    assert (tables.world.shown("u.x", "data_type"), tables.world.shown("u.x.a", "parent")) == ("struct<a int>", "u.x")


def test_a_column_that_only_an_edge_has_named_passes_its_tags_on(tables: Tables) -> None:
    tables.world.asset("source", tags=["PII"])
    tables.world.edge("source", "t.x")
    tables.take(2, renamed("t", "u"))
    tables.work()
    assert tables.world.id_of("u.x") in tables.world.derived("pii")


def test_a_rename_waits_until_the_lake_has_what_was_stated_before(tables: Tables) -> None:
    tables.take(1, dataset("t", schema=schema("x")))
    tables._connection.execute("update lake_progress set fresh_as_of = '2026-01-01'")
    tables.take(2, renamed("t", "u"))
    (job,) = tables._queue.first(tables.group, [TASK], 1)
    changing = ChangingTables(CollectorRegistry(), tables.appended.extend, lambda: tables.lake)
    with tables._connection.transaction():
        assert changing.run(tables._connection, job) is not None
    assert tables.appended == []
    with tables._connection.transaction():
        assert changing.run(tables._connection, job._replace(enqueued_at=datetime(2026, 1, 1, tzinfo=UTC))) is None
    assert tables.appended


EXCHANGES = [
    [[("a", "b"), ("b", "a")]],
    [[("a", "tmp"), ("b", "a"), ("tmp", "b")]],
    [[("a", "tmp")], [("b", "a")], [("tmp", "b")]],
]


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_two_tables_that_exchange_their_names_exist_with_the_tags_of_their_content(
    tables: Tables, exchange: list[list[tuple[str, str]]], *, at_once: bool
) -> None:
    tables.take(1, dataset("a", schema=schema("x", "y")), dataset("b", schema=schema("x", "z")))
    tables.world.person("a.y", "upsert", attributes={"tags": ["PII"]})
    age(tables)
    for minute, pairs in enumerate(exchange, 2):
        tables.take(minute, *(renamed(*pair) for pair in pairs))
        if not at_once:
            tables.work()
    tables.work()
    tables.work()
    assert tables.world.live("table") == {"a", "b"}
    assert tables.world.live("column") == {"a.x", "a.z", "b.x", "b.y"}
    assert "b.y" in tables.world.derived("pii")


def test_a_table_that_is_renamed_onto_an_existing_one_replaces_it_and_keeps_both_tags(tables: Tables) -> None:
    tables.take(1, dataset("a", schema=schema("x")), dataset("b", schema=schema("x", "z")))
    tables.world.person("b.x", "upsert", attributes={"tags": ["GDPR"]})
    tables.world.person("a.x", "upsert", attributes={"tags": ["PII"]})
    age(tables)
    tables.take(2, renamed("a", "b"))
    tables.work()
    assert tables.world.live("table") == {"b"}
    assert tables.world.derived("pii") == {"b.x"}
    assert tables.world.stating("gdpr") == {tables.world.id_of("b.x")}


DROP = {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}


@pytest.mark.parametrize("describes", [True, False])
@pytest.mark.parametrize("order", ["rename, work, drop", "rename, drop, work", "drop, rename, work"])
def test_a_table_that_is_dropped_after_it_was_renamed_has_no_columns_whatever_arrives_first(
    tables: Tables, order: str, *, describes: bool
) -> None:
    tables.take(1, dataset("t", schema=schema("x", "y")), describes=describes)
    for step in order.split(", "):
        if step == "rename":
            tables.take(2, renamed("t", "u"), describes=describes)
        elif step == "drop":
            tables.take(3, dataset("u", **DROP), describes=describes)
        else:
            tables.work()
    tables.work()
    assert (tables.world.live("table"), tables.world.live("column")) == (set(), set())


@pytest.mark.parametrize("order", ["first, second, work", "second, first, work", "first, work, second"])
def test_a_table_that_is_renamed_again_before_its_columns_moved_has_them_with_their_tags(
    tables: Tables, order: str
) -> None:
    tables.take(1, dataset("t", schema=schema("x", "y")))
    tables.world.person("t.y", "upsert", attributes={"tags": ["PII"]})
    age(tables)
    for step in order.split(", "):
        if step == "work":
            tables.work()
        else:
            tables.take(*{"first": (2, renamed("t", "u")), "second": (3, renamed("u", "v"))}[step])
    tables.work()
    tables.work()
    assert (tables.world.live("table"), tables.world.live("column")) == ({"v"}, {"v.x", "v.y"})
    assert "v.y" in tables.world.derived("pii")


def test_a_column_that_a_newer_schema_of_the_new_name_lacks_is_gone_also_if_the_rename_is_carried_out_later(
    tables: Tables,
) -> None:
    tables.take(1, dataset("t", schema=schema("x", "y")))
    tables.take(2, renamed("t", "u"))
    tables.take(3, dataset("u", schema=schema("x", "z")))
    tables.work()
    tables.work()
    assert tables.world.live("column") == {"u.x", "u.z"}


def test_a_table_that_was_made_anew_before_the_name_was_given_away_keeps_its_columns(tables: Tables) -> None:
    tables.take(1, dataset("t", schema=schema("x")))
    tables.take(2, renamed("t", "u"))
    tables.take(3, dataset("u", **DROP))
    tables.take(4, dataset("u", schema=schema("x")))
    tables.work()
    tables.work()
    assert (tables.world.live("table"), tables.world.live("column")) == ({"u"}, {"u.x"})


def test_without_metadata_write_a_drop_leaves_what_a_connector_stated(tables: Tables) -> None:
    crawled(tables.world, "crm.people", "id", "email")
    tables.take(2, dataset("crm.people", schema=schema("id", "email")), describes=False)
    tables.take(3, dataset("crm.people", lifecycleStateChange=change("DROP")), describes=False)
    tables.work()
    assert tables.world.live("table") == {"crm.people"}
    assert tables.world.live("column") == {"crm.people.id", "crm.people.email"}
    assert tables.count("refused") == 3


def test_without_metadata_write_a_producer_drops_what_it_stated_itself(tables: Tables) -> None:
    tables.take(1, dataset("mine", schema=schema("x", "y")), describes=False)
    tables.take(2, dataset("mine", schema=schema("x")), describes=False)
    tables.work()
    assert tables.world.live("column") == {"mine.x"}
    tables.take(3, dataset("mine", lifecycleStateChange=change("DROP")), describes=False)
    tables.work()
    assert (tables.world.live("table"), tables.world.live("column")) == (set(), set())


def test_without_metadata_write_a_schema_in_the_name_of_another_producer_deletes_nothing(tables: Tables) -> None:
    tables.take(1, dataset("t", schema=schema("x", "y")))
    tables.take(2, dataset("t", schema=schema("x")), describes=False, by="mallory")
    tables.take(3, renamed("t", "u"), describes=False, by="mallory")
    tables.work()
    assert tables.world.live("table") == {"t", "u"}
    assert tables.world.live("column") >= {"t.x", "t.y"}


@pytest.mark.parametrize("action", ["DELETE", "WRITE"])
@pytest.mark.parametrize("resource", [{"asset": "t"}, {"asset": "t.y"}, {"tag": "PII"}])
def test_a_shorter_schema_deletes_no_column_that_a_policy_keeps_from_its_sender(
    migrated: Migrated, tables: Tables, action: str, resource: dict[str, str]
) -> None:
    tables.take(1, dataset("t", schema=schema("x", "y", "z")), sender=BOB)
    tables.world.person("t.y", "upsert", attributes={"tags": ["PII"]})
    tables.world.settle()
    Policies(migrated, tables.world.tenant).deny(action, resource)
    tables.take(2, dataset("t", schema=schema("x")), sender=BOB)
    tables.work()
    whole = resource == {"asset": "t"}
    assert tables.world.live("column") == ({"t.x", "t.y", "t.z"} if whole else {"t.x", "t.y"})


def test_a_schema_that_a_policy_restricts_does_not_delete_by_the_rights_of_another(
    migrated: Migrated, tables: Tables
) -> None:
    Policies(migrated, tables.world.tenant).deny("DELETE", {"asset": "t"})
    tables.take(3, dataset("t", schema=schema("x")), sender=BOB)
    tables.take(2, dataset("t", schema=schema("x", "y")))
    tables.work()
    assert tables.world.live("column") == {"t.x", "t.y"}


def take_away(world: World, column: str, how: str) -> None:
    """States that a column is something else, or of another table, without authority."""
    table = column.rpartition(".")[0]
    world.authorised = False
    if how == "retyped":
        world.typed("table", column)
    elif how == "both retyped":
        world.typed("file", table)
        world.typed("table", column)
    else:
        world.asset("elsewhere")
        world.column(column, "elsewhere", name=column.removeprefix(f"{table}."))
    world.authorised = True
    world.settle()


HOW = ["retyped", "both retyped", "moved"]


@pytest.mark.parametrize("how", HOW)
def test_a_column_that_was_taken_away_without_authority_passes_its_tags_on_with_a_rename(
    tables: Tables, how: str
) -> None:
    crawled(tables.world, "s.t", "x", "y", tagged="y")
    take_away(tables.world, "s.t.y", how)
    age(tables)
    tables.take(2, renamed("s.t", "s.u"))
    tables.work()
    assert tables.world.live("column") >= {"s.u.x", "s.u.y"}
    assert "s.u.y" in tables.world.derived("pii")
    assert tables.world.shown("s.u.y", "name") == "y"
    assert "s.t.y" in tables.world.live("column" if how == "moved" else "table")  # it is not the table's to delete


def test_a_column_that_is_named_elsewhere_and_was_moved_passes_its_tags_on_with_a_rename(tables: Tables) -> None:
    crawled(tables.world, "t", "x")
    tables.world.column("odd.y", "t", name="y", tags=["PII"])
    tables.world.edge("odd.y", "copy")
    tables.world.settle()
    tables.world.authorised = False
    tables.world.asset("elsewhere")
    tables.world.column("odd.y", "elsewhere", name="y")
    tables.world.settle()
    age(tables)
    tables.take(2, renamed("t", "u"))
    tables.work()
    assert "u.y" in tables.world.derived("pii")


def test_what_is_below_another_table_or_a_file_is_no_column(tables: Tables) -> None:
    crawled(tables.world, "t", "x")
    tables.world.typed("table", "t2.y")
    tables.world.typed("table", "t.deep.y")
    tables.world.typed("file", "f")
    tables.world.typed("file", "f.csv")
    age(tables)
    tables.take(2, renamed("t", "u"), renamed("f", "g"))
    tables.work()
    assert tables.world.live("column") == {"t.x", "u.x"}
    assert tables.count("moved") == 1


def test_a_column_of_the_lake_that_is_stated_again_is_as_old_as_it_was(tables: Tables) -> None:
    tables.world.time = "2026-01-01T08:00:00Z"
    tables.take(1, dataset("t"))
    tables.lake.add(tables.world.tenant, "t", "x", ordinal_position=1)
    tables.world.time = ""
    take_away(tables.world, "t.x", "retyped")
    tables.take(2, renamed("t", "u"))
    tables.work()
    assert tables.world.live("column") == {"u.x"}
