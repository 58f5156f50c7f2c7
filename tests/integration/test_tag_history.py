"""The history of derived tags: what had reached an asset at a time, and along which path, against PostgreSQL."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

import psycopg
import pytest

from lily.model import clock
from lily.store.postgres.propagation.history import delete_old_tag_history
from tests.lineage_world import Moment, World
from tests.shared_stack import Stack

KEEP = timedelta(days=400)


@pytest.fixture
def world(parked: World) -> Iterator[World]:
    """Whatever a test does, every moment that it noted is remembered as it was."""
    yield parked
    assert [parked.difference(moment) for moment in parked.moments] == [None] * len(parked.moments)


def chain(world: World, *names: str) -> None:
    for name in names:
        world.asset(name)
    for start, end in pairwise(names):
        world.edge(start, end)


def holders(moment: Moment, world: World, *names: str) -> set[str]:
    """Which of the assets had the tag PII, by any way."""
    return {name for name in names if any(one.asset == world.id_of(name) for one in moment.derived)}


def recorded(world: World, owner: psycopg.Connection) -> int:
    """The number of supports that have ended."""
    rows = owner.execute("select count(*) from derived_tag_history where tenant_id = %s", [world.tenant]).fetchall()
    return int(rows[0][0])


def test_a_tag_that_comes_goes_and_comes_again_is_remembered(world: World, owner: psycopg.Connection) -> None:
    chain(world, "a", "b", "c")
    moments = []
    for operation in ("tag", "untag", "tag"):
        world.person("a", operation, tag="PII")
        world.settle()
        moments.append(world.note())
    assert [holders(moment, world, "b", "c") for moment in moments] == [{"b", "c"}, set(), {"b", "c"}]
    assert recorded(world, owner) == 2  # a tag that comes writes nothing


def test_a_shorter_path_replaces_a_longer_one_and_the_longer_one_is_remembered(
    world: World, owner: psycopg.Connection
) -> None:
    chain(world, "a", "b", "c", "d", "e")
    world.person("a", "tag", tag="PII")
    world.settle()
    before = world.note()
    world.edge("a", "d")
    world.settle()
    after = world.note()
    assert before.paths["pii", world.id_of("d")] == [world.id_of(name) for name in "abcd"]
    assert after.paths["pii", world.id_of("d")] == [world.id_of(name) for name in "ad"]
    assert before.paths["pii", world.id_of("e")] == [world.id_of(name) for name in "abcde"]
    assert recorded(world, owner) == 2  # of d, and of e behind it


def test_a_support_is_in_force_from_its_beginning_until_just_before_its_end(
    world: World, owner: psycopg.Connection
) -> None:
    chain(world, "a", "b")
    for operation in ("tag", "untag"):
        world.person("a", operation, tag="PII")
        world.settle()
    shifted = (
        "select (since + %(by)s)::text, (until + %(by)s)::text from derived_tag_history where tenant_id = %(tenant)s"
    )
    expected = {timedelta(0): (1, 0), timedelta(microseconds=-1): (0, 1)}
    for by, counts in expected.items():
        ((since, until),) = owner.execute(shifted, {"by": by, "tenant": world.tenant}).fetchall()
        assert (len(world.stored_at(since)), len(world.stored_at(until))) == counts


def test_an_edge_that_goes_while_another_remains_leaves_no_gap(world: World, owner: psycopg.Connection) -> None:
    chain(world, "a", "b", "d", "e")
    chain(world, "a", "c1", "c2", "d")
    world.person("a", "tag", tag="PII")
    world.settle()
    before = world.note()
    world.unlink("b", "d")
    world.settle()
    after = world.note()
    assert holders(before, world, "d", "e") == holders(after, world, "d", "e") == {"d", "e"}
    # Also at the very time of the change, when the old support ended and the new one began.
    ((changed,),) = owner.execute(
        "select distinct until::text from derived_tag_history where tenant_id = %s", [world.tenant]
    ).fetchall()
    for at in (changed, owner.execute("select (%s::timestamptz - interval '1 us')::text", [changed]).fetchall()[0][0]):
        assert {one.asset for one in world.stored_at(at)} == {one.asset for one in after.derived}
    assert len(after.paths["pii", world.id_of("e")]) == 5


def test_a_suppression_and_its_undoing_are_remembered_downstream(world: World) -> None:
    chain(world, "a", "b", "c")
    world.person("a", "tag", tag="PII")
    world.settle()
    moments = [world.note()]
    for operation in ("suppress", "unsuppress"):
        world.person("b", operation, tag="PII", **({"reason": "hashed"} if operation == "suppress" else {}))
        world.settle()
        moments.append(world.note())
    assert [holders(moment, world, "c") for moment in moments] == [{"c"}, set(), {"c"}]


def test_a_deletion_that_cuts_and_a_restore_are_remembered(world: World) -> None:
    world.on_delete("cut")
    chain(world, "a", "b", "c")
    world.person("a", "tag", tag="PII")
    world.settle()
    moments = [world.note()]
    for operation in ("delete", "restore"):
        world.person("b", operation)
        world.settle()
        moments.append(world.note())
    assert [holders(moment, world, "c") for moment in moments] == [{"c"}, set(), {"c"}]


def test_a_definition_that_goes_is_remembered(world: World) -> None:
    world.define("secret")
    chain(world, "a", "b")
    world.person("a", "tag", tag="secret")
    world.settle()
    before = world.note()
    world.undefine("secret")
    world.settle()
    assert before.paths == {("secret", world.id_of("b")): [world.id_of("a"), world.id_of("b")]}
    assert world.note().derived == set()


def test_a_run_without_effect_writes_no_history(world: World, owner: psycopg.Connection) -> None:
    chain(world, "a", "b", "c")
    world.person("a", "tag", tag="PII")
    world.settle()
    for name in "abc":
        world.asset(name, description="again")
    world.edge("a", "b", propagates=True)
    world.settle()
    assert recorded(world, owner) == 0


def test_old_history_is_deleted_and_starts_after_what_was_deleted(
    world: World, owner: psycopg.Connection, stack: Stack
) -> None:
    chain(world, "a", "b")
    world.person("a", "tag", tag="PII")
    world.settle()
    for operation in ("untag", "tag", "untag", "tag", "untag"):
        world.person("a", operation, tag="PII")
        world.settle()
    ended = owner.execute("select until from derived_tag_history where tenant_id = %s order by 1", [world.tenant])
    first, second, last = (until for (until,) in ended.fetchall())
    move = "update derived_tag_history set until = until - %s, since = since - %s where tenant_id = %s and until = %s"
    for until in (first, second):
        owner.execute(move, [KEEP, KEEP, world.tenant, until])
    # What began long ago and ended lately is kept.
    owner.execute(move, [timedelta(0), 2 * KEEP, world.tenant, last])
    with psycopg.connect(stack.database_of("lily_pipeline")) as pipeline:
        assert delete_old_tag_history(pipeline, KEEP) >= 2
        assert delete_old_tag_history(pipeline, KEEP) == 0
    kept = owner.execute("select until from derived_tag_history where tenant_id = %s", [world.tenant]).fetchall()
    start = "select starts_at from derived_tag_history_starts where tenant_id = %s"
    assert kept == [(last,)]
    assert owner.execute(start, [world.tenant]).fetchall() == [(second - KEEP,)]
    # What is deleted later and ended earlier does not bring back what was deleted before.
    owner.execute(move, [2 * KEEP, 2 * KEEP, world.tenant, last])
    with psycopg.connect(stack.database_of("lily_pipeline")) as pipeline:
        assert delete_old_tag_history(pipeline, KEEP) >= 1
    assert owner.execute(start, [world.tenant]).fetchall() == [(second - KEEP,)]


def test_a_time_before_the_first_run_has_nothing(world: World) -> None:
    earlier = clock.now()
    chain(world, "a", "b")
    world.person("a", "tag", tag="PII")
    world.settle()
    assert world.stored_at(earlier) == set()
