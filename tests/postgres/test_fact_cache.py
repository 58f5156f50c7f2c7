"""Facts that are kept are those that would be read: after every kind of change, in whatever order it is committed."""

import random
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lily.api.policy import fact_cache
from lily.store.postgres.policies import decision_state
from lily.store.postgres.policies.decision_state import delete_old_fact_changes
from tests.lineage_world import World
from tests.postgres.cached_facts import CachedFacts
from tests.postgres.migrated import Migrated

TABLE, COLUMN = "db.s.t", "db.s.t.c"
# Names in several cases, columns of several tables, a name that nobody has and one that only the lake has.
NAMES = ("db", "db.s", TABLE, "DB.s.T", COLUMN, "db.s.T.C", "db.s.t.d", "db.s.u.c", "lake.x.y")
TAGS = ("pii", "gdpr", "secret")
LAKE = (
    "update graph_nodes set qualified_name = %s, parent = %s, entity_type = 'column', awaits_lake = false where id = %s"
)


@pytest.fixture(scope="module")
def cached(migrated: Migrated) -> Iterator[CachedFacts]:
    with closing(CachedFacts(migrated.url_of("lily_api"))) as found:
        yield found


def catch_up(owner: psycopg.Connection) -> None:
    """As if the relay had published, and propagation read, everything that is committed."""
    for statement in (
        "delete from applied where topic = 'governance-events@propagation'",
        'update batches set published_at = now(), ends = \'{"governance-events": {"0": 0}}\'',
    ):
        owner.execute(statement)


def catch_up_with_lake(owner: psycopg.Connection, world: World) -> None:
    owner.execute("update assets set awaits_lake = false where tenant_id = %s", [world.tenant])
    owner.execute("update graph_nodes set awaits_lake = false where tenant_id = %s", [world.tenant])
    catch_up(owner)


def add_many(connection: psycopg.Connection, tenant: str, start: str, number: int) -> None:
    """In one statement. Their names begin alike."""
    connection.execute(
        "insert into assets (tenant_id, id, qualified_name, source, source_at, created_at, updated_at) "
        "select %s, gen_random_uuid(), %s || n, '{}', '2026', now(), now() from generate_series(1, %s) n",
        [tenant, start, number],
    )


def change(world: World, owner: psycopg.Connection, chance: random.Random) -> None:
    """One random change of what facts rest on."""
    name, other = chance.sample(NAMES, 2)
    tag = chance.choice(TAGS)
    steps: list[Callable[[], object]] = [
        lambda: world.asset(name, tags=chance.sample(TAGS, chance.randint(0, 2))),
        lambda: world.typed(chance.choice(["table", "column", "topic", "schema"]), name, parent=other),
        lambda: world.asset(name, parent=None, data_source=chance.choice(["crm", "shop"])),
        lambda: world.asset(name, description=str(chance.random())),
        lambda: world.edge(name, other, propagates=chance.random() < 0.8),
        lambda: world.unlink(name, other),
        lambda: world.person(name, chance.choice(["tag", "untag"]), tag=tag),
        lambda: world.person(name, chance.choice(["suppress", "unsuppress"]), tag=tag, reason="because"),
        lambda: world.person(name, chance.choice(["delete", "restore"])),
        lambda: world.define(tag, propagates=chance.random() < 0.8, max_depth=chance.choice([None, 1])),
        lambda: world.undefine("secret"),
        lambda: world.on_delete(chance.choice(["keep", "cut"])),
        # The lake reports a column, and where it is.
        lambda: owner.execute(LAKE, [name, world.id_of(other), world.id_of(name)]),
        lambda: owner.execute("delete from assets where tenant_id = %s and id = %s", [world.tenant, world.id_of(name)]),
        lambda: owner.execute("delete from graph_nodes where id = %s", [world.id_of(name)]),
    ]
    chance.choice(steps)()


@pytest.mark.campaign
@settings(max_examples=25)
@given(chance=st.randoms(use_true_random=False), steps=st.integers(1, 25))
def test_what_is_kept_is_what_would_be_read(
    make_world: Callable[[], World], owner: psycopg.Connection, cached: CachedFacts, chance: random.Random, steps: int
) -> None:
    world, another = make_world(), make_world()
    for number in range(steps):
        change(world, owner, chance)
        if chance.random() < 0.3:
            change(another, owner, chance)
        if chance.random() < 0.4:
            world.settle()
        if chance.random() < 0.6:
            catch_up(owner)
        if chance.random() < 0.5:
            catch_up_with_lake(owner, world)
        asked = chance.sample(NAMES, chance.randint(1, len(NAMES)))
        assert cached.difference(world.tenant, asked, number % 2) is None


@pytest.mark.campaign
@settings(max_examples=15)
@given(chance=st.randoms(use_true_random=False))
def test_transactions_that_commit_in_another_order_are_seen(
    make_world: Callable[[], World],
    migrated: Migrated,
    owner: psycopg.Connection,
    cached: CachedFacts,
    chance: random.Random,
) -> None:
    world = make_world()
    names = [f"open.t{number}" for number in range(6)]
    for name in names:
        world.asset(name)
    catch_up(owner)
    steps = [(name, step) for name in names for step in ("begin", "commit")]
    chance.shuffle(steps)
    open_ones: dict[str, psycopg.Connection] = {}
    with transactions(open_ones):
        for name, _ in steps:  # its first turn begins, its second commits or rolls back
            if name not in open_ones:
                open_ones[name] = psycopg.connect(migrated.owner)
                tagged = """update assets set source = jsonb_set(source, '{tags}', '{"pii": "PII"}') where id = %s"""
                open_ones[name].execute(tagged, [world.id_of(name)])
            elif chance.random() < 0.8:
                open_ones[name].commit()
            else:
                open_ones[name].rollback()
            if chance.random() < 0.7:
                assert cached.difference(world.tenant, names) is None
        assert cached.difference(world.tenant, names) is None


@contextmanager
def transactions(opened: dict[str, psycopg.Connection]) -> Iterator[None]:
    try:
        yield
    finally:
        for connection in opened.values():
            connection.close()


class TestWhatIsKept:
    @pytest.fixture
    def world(self, make_world: Callable[[], World], owner: psycopg.Connection) -> World:
        world = make_world()
        world.typed("schema", "db.s")
        for name in (TABLE, "db.s.u"):
            world.asset(name, parent="db.s")
        for name in (COLUMN, "db.s.t.d"):
            world.typed("column", name, parent=TABLE)
        world.settle()
        catch_up_with_lake(owner, world)
        return world

    def generations(self, cached: CachedFacts, world: World, step: Callable[[], object]) -> tuple[int, int]:
        before = cached.known(world.tenant, [COLUMN]).generation
        step()
        return before, cached.known(world.tenant, [COLUMN]).generation

    @pytest.mark.parametrize("what", ["nothing", "another tenant", "another table", "the same again", "bookkeeping"])
    def test_stays_after(
        self,
        cached: CachedFacts,
        world: World,
        make_world: Callable[[], World],
        owner: psycopg.Connection,
        what: str,
    ) -> None:
        steps: dict[str, Callable[[], object]] = {
            "nothing": lambda: None,
            "another tenant": lambda: make_world().asset(TABLE, tags=["PII"]),
            "another table": lambda: world.asset("db.s.u", parent="db.s", description="of users"),
            "the same again": lambda: world.typed("column", COLUMN, parent=TABLE),
            "bookkeeping": lambda: owner.execute("create temporary table noted (); drop table noted"),
        }
        before, after = self.generations(cached, world, steps[what])
        assert before == after

    @pytest.mark.parametrize(
        "what", ["itself", "its table", "its schema", "its name in another case", "its table's name in another case"]
    )
    def test_goes_with_a_change_of(self, cached: CachedFacts, world: World, what: str) -> None:
        steps: dict[str, Callable[[], object]] = {
            "itself": lambda: world.typed("column", COLUMN, parent=TABLE, description="new"),
            "its table": lambda: world.asset(TABLE, parent="db.s", description="new"),
            "its schema": lambda: world.person("db.s", "tag", tag="secret"),
            "its name in another case": lambda: world.typed("column", COLUMN.upper()),
            "its table's name in another case": lambda: world.asset(TABLE.upper()),
        }
        before, after = self.generations(cached, world, steps[what])
        assert before != after
        assert cached.difference(world.tenant, [COLUMN]) is None

    def test_goes_with_a_change_above_what_only_the_lake_has(
        self, cached: CachedFacts, world: World, owner: psycopg.Connection
    ) -> None:
        """The graph has a column and its table, which is in a schema that PostgreSQL has."""
        insert = "insert into graph_nodes (tenant_id, id, parent, qualified_name) values (%s, %s, %s, %s)"
        for name, parent in (("db.s.lake", "db.s"), ("db.s.lake.c", "db.s.lake")):
            owner.execute(insert, [world.tenant, world.id_of(name), world.id_of(parent), name])
        assert cached.of(world.tenant, ["db.s.lake.c"])["db.s.lake.c"][0][5] == []
        world.asset("db.s", tags=["PII"])
        world.settle()
        catch_up(owner)
        assert cached.of(world.tenant, ["db.s.lake.c"])["db.s.lake.c"][0][5] == ["pii"]

    @pytest.mark.parametrize(("statements", "assets"), [(1, 101), (6, 100)])
    def test_goes_with_a_change_of_many_assets(
        self, cached: CachedFacts, world: World, owner: psycopg.Connection, statements: int, assets: int
    ) -> None:
        """More than a statement notes one by one, or more than are reported one by one."""

        def change_many() -> None:
            for number in range(statements):
                add_many(owner, world.tenant, f"many{number}.", assets)

        before, after = self.generations(cached, world, change_many)
        assert before != after

    def test_is_put_aside_while_propagation_lags_and_used_again(
        self, cached: CachedFacts, world: World, owner: psycopg.Connection
    ) -> None:
        for name in ("up.t", "down.t"):
            world.asset(name)
        catch_up_with_lake(owner, world)
        before = cached.known(world.tenant, [COLUMN, "up.t"])
        world.edge("up.t", "down.t")
        during = cached.known(world.tenant, [COLUMN])
        world.settle()
        catch_up_with_lake(owner, world)
        after = cached.known(world.tenant, [COLUMN])
        assert len({one.generation for one in (before, during, after)}) == 3
        assert during.facts[COLUMN] is not before.facts[COLUMN]
        assert after.facts[COLUMN] is before.facts[COLUMN]
        assert "up.t" not in after.facts

    def test_is_not_used_again_if_it_was_changed_meanwhile(
        self, cached: CachedFacts, world: World, owner: psycopg.Connection
    ) -> None:
        cached.known(world.tenant, [COLUMN])
        world.person(COLUMN, "tag", tag="secret")
        assert cached.of(world.tenant, [COLUMN])[COLUMN][0][5] == ["secret"]
        world.settle()
        catch_up_with_lake(owner, world)
        assert cached.of(world.tenant, [COLUMN])[COLUMN][0][5] == ["secret"]

    def test_is_not_used_again_where_a_tag_arrived(
        self, cached: CachedFacts, world: World, owner: psycopg.Connection
    ) -> None:
        cached.known(world.tenant, [COLUMN, "db.s.t.d"])
        world.asset("up.t", tags=["PII"])
        world.edge("up.t", COLUMN)
        assert cached.difference(world.tenant, ["db.s.t.d"]) is None
        world.settle()
        catch_up_with_lake(owner, world)
        assert [one[5] for one in cached.of(world.tenant, [COLUMN])[COLUMN]] == [["pii"]]
        assert cached.difference(world.tenant, [COLUMN, "db.s.t.d"]) is None

    @pytest.mark.parametrize("column", ["db.s.t.MAIL", "DB.S.U.mail", "DB.S.U.MAIL"])
    def test_goes_with_an_edge_to_a_column_in_another_case(
        self, cached: CachedFacts, world: World, owner: psycopg.Connection, column: str
    ) -> None:
        """Nobody ingested the column."""
        world.asset("DB.S.U")
        world.asset("up.t", tags=["PII"])
        world.settle()
        catch_up_with_lake(owner, world)
        asked = column.lower()
        assert {tag for one in cached.of(world.tenant, [asked])[asked] for tag in one[5]} == set()
        world.edge("up.t", column)
        world.settle()
        catch_up_with_lake(owner, world)
        assert {tag for one in cached.of(world.tenant, [asked])[asked] for tag in one[5]} == {"pii"}
        assert cached.difference(world.tenant, [asked]) is None

    def test_goes_with_the_table_of_a_name_that_meant_nothing(self, cached: CachedFacts, world: World) -> None:
        assert cached.of(world.tenant, ["new.t.c"]) == {"new.t.c": []}
        world.asset("new.t")
        assert len(cached.of(world.tenant, ["new.t.c"])["new.t.c"]) == 1
        assert cached.difference(world.tenant, ["new.t.c"]) is None

    def test_a_request_does_not_wait_for_a_large_one(
        self, cached: CachedFacts, world: World, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fact_cache, "SLICE", 2)
        catch_up_with_lake(owner, world)
        many = [f"db.s.t.c{number}" for number in range(41)]
        assert cached.answered_first(world.tenant, many, [COLUMN]) == [2, 1]
        assert cached.difference(world.tenant, [*many, COLUMN]) is None

    def test_goes_when_the_server_was_started_again(self, cached: CachedFacts, world: World) -> None:
        """After a restore, the same number may be that of another transaction."""
        before, after = self.generations(cached, world, lambda: cached.restart(world.tenant))
        assert before != after

    def test_goes_when_what_was_changed_is_no_longer_noted(
        self, cached: CachedFacts, world: World, migrated: Migrated, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def change_and_delete() -> None:
            world.person(COLUMN, "tag", tag="secret")
            with psycopg.connect(migrated.url_of("lily_pipeline")) as connection:
                assert delete_old_fact_changes(connection) > 0

        monkeypatch.setattr(decision_state, "KEEP_CHANGES", timedelta(0))
        before, after = self.generations(cached, world, change_and_delete)
        assert before != after
        assert cached.difference(world.tenant, [COLUMN]) is None

    def test_goes_when_propagation_no_longer_lags(
        self, cached: CachedFacts, world: World, owner: psycopg.Connection
    ) -> None:
        """What could not be known counted as tagged, two steps downstream; it turns out that it is not."""
        world.edge("db.s.u", COLUMN)
        world.settle()
        catch_up(owner)
        assert cached.of(world.tenant, [COLUMN])[COLUMN][0][5] == []
        world.edge("lake.people.mail", "db.s.u")
        assert cached.of(world.tenant, [COLUMN])[COLUMN][0][5] == ["gdpr", "pii"]
        owner.execute("delete from edges where from_id = %s", [world.id_of("lake.people.mail")])
        catch_up(owner)
        assert cached.of(world.tenant, [COLUMN])[COLUMN][0][5] == []
