"""Once everything that is pending is confirmed, tags follow from what is shown and from nothing else."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from lily.bus import topics
from lily.lineage.marks import EdgeMark
from lily.model import clock
from lily.model.edges import Claim, ClaimsEvent, EdgeKey
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.review_queue import RECORD, ReviewQueue
from tests.postgres.test_held_stateful import MINUTES, PAIRS, Estate, effective, run
from tests.stored_lineage import shown_graph, stored_definitions, stored_derived
from tests.tag_oracle import Derived, TagGraph, recompute

__all__ = ["effective"]  # a fixture

Effective = Callable[[World], dict[str, set[str]]]

ROUNDS = 8  # what one confirmation leaves may be another's to end: as many as there are assets, and some


class Reviewed(Estate):
    """Nobody has authority but the reviewer."""

    def __init__(self, world: World, owner: psycopg.Connection, queue: ReviewQueue, effective: Effective) -> None:
        super().__init__(world)
        self._owner, self._queue, self._effective = owner, queue, effective
        world.define("secret", stopped_by_masking=True)
        world.authorised = False
        world.on_delete("cut")

    @rule(
        ends=PAIRS, settings=st.fixed_dictionaries({}, optional={"masking": st.booleans(), "propagates": st.booleans()})
    )
    def an_edge_is_set(self, ends: list[str], settings: dict[str, bool]) -> None:
        self.world.edge(ends[0], ends[1], "derived-from", authorised=False, **settings)

    @rule(ends=PAIRS)
    def an_edge_is_deleted(self, ends: list[str]) -> None:
        self.world.unlink(ends[0], ends[1], authorised=False)

    @rule(
        job=st.sampled_from(["one", "two"]),
        edges=st.lists(PAIRS, min_size=1, max_size=3),
        masking=st.booleans(),
        minutes=MINUTES,
    )
    def a_job_claims(self, job: str, edges: list[list[str]], masking: bool, minutes: int) -> None:  # noqa: FBT001
        keys = [EdgeKey(self.world.id_of(start), self.world.id_of(end), "derived-from") for start, end in edges]
        time = clock.stamp(datetime.now(UTC) + timedelta(minutes=minutes))
        made = tuple(Claim(key, masking) for key in dict.fromkeys(keys))
        event_id, job_id = str(uuid.uuid4()), self.world.id_of(job)
        event = ClaimsEvent(event_id, time, self.world.tenant, job_id, event_id, complete=True, claims=made, by="etl")
        self.world.store.apply(topics.LINEAGE_INTAKE, {}, [(RECORD, event)], [])
        self.world.marks.edges += [EdgeMark(start, end) for start, end, _ in self.world.edge_keys()]

    @rule()
    def all_is_confirmed(self) -> None:
        """Also in between: what is stated later counts again."""
        self._nothing_awaits_the_lake()
        self.world.settle()
        for _ in range(ROUNDS):
            if not (items := self._queue.items()):
                break
            for item in items:
                self._queue.decide(item, "confirm")
        assert self._queue.items() == []
        shown = plain_graph(self._owner, self.world.tenant)
        expected = tags_of(shown, recompute(shown, stored_definitions(self._owner, self.world.tenant)))
        stored = {one for one in stored_derived(self._owner, self.world.tenant) if one.kind != "inherited"}
        assert tags_of(shown, stored) <= expected
        found = self._effective(self.world)  # decisions may see more, while something is unknown
        plain = {known: {tag for asset, tag in expected if asset == self.world.id_of(known)} for known in found}
        assert found == plain

    def teardown(self) -> None:
        self.all_is_confirmed()

    def _nothing_awaits_the_lake(self) -> None:
        """Promotion found nothing there. Until then the graph keeps the parents that it had."""
        store, tenant = self.world.store, self.world.tenant
        waiting = [asset for asset in store.awaiting_lake(10_000) if asset[0] == tenant]
        store.promote([], waiting)


def plain_graph(connection: psycopg.Connection, tenant: str) -> TagGraph:
    """What is shown: no tag, parent or edge that is held, and what is deleted is cut."""
    graph = shown_graph(connection, tenant)
    graph.held_parents, graph.cut, graph.stated = {}, set(graph.deleted), {}
    asked = """
      select id::text, array(
        select jsonb_object_keys(coalesce(source -> 'tags', '{}') || coalesce(enriched -> 'tags', '{}')
                                 || coalesce("user" -> 'tags', '{}')))
      from assets where tenant_id = %s"""
    for asset, tags in connection.execute(asked, [tenant]):
        graph.stated[asset] = set(tags)
    return graph


def tags_of(graph: TagGraph, derived: set[Derived]) -> set[tuple[str, str]]:
    stated = {(asset, tag) for asset, tags in graph.stated.items() for tag in tags}
    return stated | {(one.asset, one.tag) for one in derived}


@pytest.mark.timeout(400)
def test_once_all_is_confirmed_tags_follow_from_what_is_shown(
    make_world: Callable[[], World], owner: psycopg.Connection, migrated: Migrated, effective: Effective
) -> None:
    def machine() -> Reviewed:
        world = make_world()
        return Reviewed(world, owner, ReviewQueue(world, migrated.url_of("lily_api")), effective)

    run(machine, 10, 16)
