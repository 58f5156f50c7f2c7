"""What an edge conducts is a function of what was said about it: of any order, and never less without authority."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice, permutations, product
from random import Random
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from lily.lineage.edge_state import Conduction, EdgeClaims, EdgeState
from lily.model.edge_layers import merge_edges
from lily.model.edges import Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeLayer, EdgeStatement
from lily.model.layers import Layer
from lily.model.records import Record
from lily.store.postgres.catalogue.writer import BatchCounts
from tests.edge_oracle import ASSETS, EVERYBODY, JOBS, KEYS, NOBODY, Event, all_events, conduction, for_tenant, shown
from tests.lineage_world import World

Make = Callable[[], World]

_offsets = count()
KEY = KEYS[0]
FEW = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Edges:
    """The edges of a new tenant, as PostgreSQL stores them."""

    def __init__(self, world: World, owner: psycopg.Connection) -> None:
        self.world, self._owner = world, owner

    def feed(self, *events: Event) -> BatchCounts:
        mine = [for_tenant(self.world.tenant, event) for event in events]
        records = [(Record("edges", 0, next(_offsets), event.time, b"", b"{}"), event) for event in mine]
        return self.world.store.apply("edges", {0: next(_offsets)}, records, [])

    def conduction(self) -> dict[EdgeKey, int]:
        asked = "select from_id::text, to_id::text, type, conduction from edges where tenant_id = %s"
        rows = self._owner.execute(asked, [self.world.tenant]).fetchall()
        return dict.fromkeys(KEYS, 0) | {EdgeKey(*key): found for *key, found in rows}

    def shown(self) -> dict[EdgeKey, tuple[bool, bool, bool]]:
        rows = self._owner.execute(
            "select from_id::text, to_id::text, type, propagates, masking, is_deleted from edges"
            " where tenant_id = %s and not is_deleted",
            [self.world.tenant],
        ).fetchall()
        return {EdgeKey(*row[:3]): row[3:] for row in rows}

    def audits(self) -> list[tuple[str, str, str]]:
        asked = "select principal, action, entity from audit where tenant_id = %s and action like 'edge.%%' order by id"
        return self._owner.execute(asked, [self.world.tenant]).fetchall()

    def held(self) -> list[tuple[Any, ...]]:
        """As a list of what is pending reads them."""
        asked = "select ended_by, ended_at::text, masking from held_claims where tenant_id = %s order by ended_at"
        return self._owner.execute(asked, [self.world.tenant]).fetchall()


@pytest.fixture
def make_edges(make_world: Make, owner: psycopg.Connection) -> Callable[[], Edges]:
    return lambda: Edges(make_world(), owner)


@pytest.fixture
def edges(make_edges: Callable[[], Edges]) -> Edges:
    return make_edges()


def arrivals(found: Sequence[Event], random: Random) -> list[list[Event]]:
    """The events shuffled, some repeated, cut into batches of random size."""
    arriving = [*found, *random.sample(found, random.randint(0, len(found)))]
    random.shuffle(arriving)
    stream = iter(arriving)
    return list(iter(lambda: list(islice(stream, random.randint(1, 4))), []))


@FEW
@given(found=all_events(), random=st.randoms())
def test_any_order_ends_in_what_the_oracle_says(
    make_edges: Callable[[], Edges], found: list[Event], random: Random
) -> None:
    edges = make_edges()
    for batch in arrivals(found, random):
        edges.feed(*batch)
    assert edges.conduction() == conduction(found)
    assert edges.shown() == shown(found)
    assert edges.feed(*found).changed == 0
    assert "unknown" not in {who for who, *_ in edges.audits()}


@FEW
@given(before=all_events(), found=all_events(NOBODY), random=st.randoms())
def test_without_authority_no_edge_ever_conducts_less(
    make_edges: Callable[[], Edges], before: list[Event], found: list[Event], random: Random
) -> None:
    edges = make_edges()
    edges.feed(*before)
    known, audited = edges.conduction(), edges.audits()
    for batch in arrivals(found, random):
        edges.feed(*batch)
        now = edges.conduction()
        assert all(now[key] >= known[key] for key in KEYS)
        known = now
    assert edges.audits() == audited


@FEW
@given(found=all_events(EVERYBODY), random=st.randoms())
def test_with_authority_an_edge_conducts_what_it_shows(
    make_edges: Callable[[], Edges], found: list[Event], random: Random
) -> None:
    edges = make_edges()
    complete = [replace(claims(9, "last", KEY, authorised=True), job_id=job) for job in JOBS]
    for batch in arrivals([*found, *complete], random):
        edges.feed(*batch)
    assert edges.conduction() == dict.fromkeys(KEYS, 0) | {
        key: (1 if masking else 2) * propagates for key, (propagates, masking, _) in edges.shown().items()
    }
    assert edges.held() == []
    assert "unknown" not in {who for who, *_ in edges.audits()}


def stated(tick: int, layer: Any = "user", operation: Any = "upsert", *, by: str = "ada", **more: Any) -> EdgeEvent:
    authorised = more.pop("authorised", False)
    statement = EdgeStatement(layer, operation, more.pop("key", KEY), more, by, authorised)
    return EdgeEvent(str(uuid.uuid4()), f"2026-01-01T00:00:{tick:02}.000000Z", "t", statement)


def claims(tick: int, run: str, *keys: EdgeKey, complete: bool = True, **more: Any) -> ClaimsEvent:
    told = tuple(Claim(key, more.pop("masking", False)) for key in keys)
    time = f"2026-01-01T00:00:{tick:02}.000000Z"
    return ClaimsEvent(str(uuid.uuid4()), time, "t", JOBS[0], run, complete, told, **more)


@pytest.mark.parametrize(
    ("change", "action", "left"),
    [
        ({"operation": "delete"}, "edge.deleted", 0),
        ({"propagates": False}, "edge.blocked", 0),
        ({"masking": True}, "edge.masked", 1),
    ],
)
@pytest.mark.parametrize("layer", ["source", "user"])
def test_what_is_closed_without_authority_conducts_until_authority_closes_it(
    edges: Edges, change: dict[str, Any], action: str, left: int, layer: str
) -> None:
    edges.feed(stated(1, "source"))
    assert edges.feed(stated(2, layer, **change)).changed == 1
    assert edges.shown() != {KEY: (True, False, False)}
    assert edges.conduction()[KEY] == 2
    assert edges.audits() == []
    decided = stated(3, layer, authorised=True, by="grace", **change)
    assert edges.feed(decided).changed == 1
    assert edges.feed(decided).changed == 0
    assert edges.conduction()[KEY] == left
    assert edges.audits() == [("grace", action, f"{KEY.from_id}→{KEY.to_id} {KEY.type}")]


def test_a_person_with_authority_ends_what_a_source_and_a_job_state(edges: Edges) -> None:
    edges.feed(stated(1, "source"), claims(1, "r1", KEY))
    edges.feed(stated(2, "user", "delete", authorised=True))
    assert edges.conduction()[KEY] == 0
    edges.feed(stated(3, "source"), claims(3, "r2", KEY))
    assert edges.conduction()[KEY] == 0
    edges.feed(stated(4, "user"))
    assert edges.conduction()[KEY] == 2


def test_a_job_does_not_mask_a_persons_edge_without_authority(edges: Edges) -> None:
    edges.feed(stated(1, "user"))
    edges.feed(claims(2, "r1", KEY, masking=True))
    assert edges.shown()[KEY] == (True, True, False)
    assert edges.conduction()[KEY] == 2
    edges.feed(claims(3, "r2", KEY, masking=True, authorised=True))
    assert edges.conduction()[KEY] == 1


def test_an_edge_that_was_always_masked_conducts_as_a_masked_one(edges: Edges) -> None:
    edges.feed(claims(1, "r1", KEY, masking=True), stated(1, "source", key=KEYS[1], masking=True))
    edges.feed(claims(2, "r2", KEY, masking=True), stated(2, "source", key=KEYS[1], masking=True))
    assert edges.conduction() == dict.fromkeys(KEYS, 1)


def test_a_claim_that_its_job_drops_is_held_until_a_run_with_authority_completes(edges: Edges) -> None:
    edges.feed(claims(1, "r1", *KEYS))
    assert edges.feed(claims(2, "r2", KEYS[1], by="etl")).held == 1
    assert set(edges.shown()) == {KEYS[1]}
    assert edges.conduction() == dict.fromkeys(KEYS, 2)
    assert [(who, masking) for who, _, masking in edges.held()] == [("etl", False)]
    assert edges.feed(claims(3, "r3", KEYS[1])).held == 0
    assert edges.conduction()[KEY] == 2
    edges.feed(claims(4, "r4", KEYS[1], authorised=True, by="grace"))
    assert edges.conduction() == {KEYS[0]: 0, KEYS[1]: 2}
    assert edges.held() == []
    assert [(who, what) for who, what, _ in edges.audits()] == [("grace", "edge.deleted")]


def test_what_a_run_with_authority_claimed_is_held_once_one_without_drops_it(edges: Edges) -> None:
    edges.feed(claims(1, "r1", *KEYS, authorised=True))
    assert edges.feed(claims(2, "r2", KEYS[1])).held == 1
    assert edges.conduction() == dict.fromkeys(KEYS, 2)


def test_a_claim_that_arrives_after_its_end_is_held_as_well(edges: Edges) -> None:
    edges.feed(claims(2, "r2", KEYS[1]))
    assert edges.feed(claims(1, "r1", *KEYS)).held == 1
    assert edges.conduction() == dict.fromkeys(KEYS, 2)
    edges.feed(claims(3, "r3", KEYS[1], authorised=True))
    assert edges.feed(claims(1, "r0", *KEYS)).held == 0
    assert edges.conduction() == {KEYS[0]: 0, KEYS[1]: 2}


def test_a_claim_is_no_longer_held_when_its_job_claims_the_edge_again(edges: Edges) -> None:
    edges.feed(claims(1, "r1", *KEYS))
    edges.feed(claims(2, "r2", KEYS[1]))
    edges.feed(claims(3, "r3", *KEYS))
    assert edges.held() == []
    assert set(edges.shown()) == set(KEYS)


def test_the_history_of_an_edge_says_who_ended_it_and_that_it_is_held(edges: Edges, owner: psycopg.Connection) -> None:
    edges.feed(stated(1))
    edges.feed(stated(2, "user", "delete", by="mallory"))
    edges.feed(stated(3, "user", "delete", by="grace", authorised=True))
    rows = owner.execute(
        "select after ->> 'held', causes -> 0 ->> 'by' from edge_changes where tenant_id = %s order by position",
        [edges.world.tenant],
    ).fetchall()
    assert rows == [(None, "ada"), ("true", "mallory"), (None, "grace")]


def test_edges_that_are_held_are_found_by_an_index(edges: Edges, owner: psycopg.Connection) -> None:
    edges.feed(stated(1), stated(1, key=KEYS[1]), stated(2, "user", "delete"))
    asked = (
        "select to_id::text from edges where tenant_id = %s and (conduction > 0 and (is_deleted or not propagates)"
        " or conduction = 2 and masking)"
    )
    with owner.transaction():
        owner.execute("set local enable_seqscan = off")
        plan = owner.execute("explain " + asked, [edges.world.tenant]).fetchall()
    assert "edges_held" in str(plan)
    assert owner.execute(asked, [edges.world.tenant]).fetchall() == [(ASSETS[1],)]


EDGE_LAYERS: tuple[EdgeLayer, EdgeLayer] = ("source", "user")
DECIDED: dict[str, Any] = {"authorised": True}
STATEMENTS = {
    "newer values replace older ones": (
        [stated(1, masking=True, propagates=False, **DECIDED), stated(2, masking=False, **DECIDED)],
        (False, False, False),
    ),
    "what is not stated again stays": (
        [stated(1, propagates=False, masking=True, **DECIDED), stated(2, **DECIDED)],
        (False, True, False),
    ),
    "masking that is not stated again stays": (
        [stated(1, masking=True, **DECIDED), stated(2, **DECIDED)],
        (True, True, False),
    ),
    "what was cleared stays so": (
        [stated(1, masking=True, **DECIDED), stated(2, masking=None, **DECIDED), stated(3, **DECIDED)],
        (True, False, False),
    ),
}


@pytest.mark.parametrize("case", STATEMENTS)
def test_statements_add_up_in_any_order(make_edges: Callable[[], Edges], case: str) -> None:
    found, expected = STATEMENTS[case]
    for arriving in permutations(found):
        edges = make_edges()
        for event in arriving:
            edges.feed(event)
        assert edges.shown() == {KEY: expected}


def test_of_the_claims_of_one_run_the_newest_counts_in_any_order(make_edges: Callable[[], Edges]) -> None:
    for arriving in permutations([claims(1, "r", KEY, complete=False), claims(2, "r", KEY, masking=True)]):
        edges = make_edges()
        for event in arriving:
            edges.feed(event)
        assert edges.shown() == {KEY: (True, True, False)}


def test_the_columns_of_the_table_and_the_model_agree(owner: psycopg.Connection) -> None:
    """Of every layer that up to two statements make, with claims of every kind."""
    asked = "select edge_conduction(%s, %s, %s, %s, %s, %s::smallint)"
    layers = {str(layer): layer for layer in _layers()}.values()
    for source, user in product([None, *layers], repeat=2):
        found = {name: one for name, one in zip(EDGE_LAYERS, (source, user), strict=True) if one}
        for given_claims in _claims():
            fields = [Jsonb(one.fields) if one else None for one in (source, user)]
            (stored,) = owner.execute(asked, [*fields, *given_claims]).fetchone() or ()
            assert stored == EdgeState(found, given_claims).conduction, (source, user, given_claims)


def _layers() -> Iterator[Layer]:
    states: list[dict[str, Any]] = [
        {"operation": "delete"},
        {},
        {"masking": True},
        {"masking": True, "authorised": True},
        {"propagates": False},
        {"operation": "delete", "authorised": True},
    ]
    for tick, about in enumerate(states):
        yield stated(tick, **about).layer()
    for first, second in permutations(states, 2):
        yield merge_edges(stated(1, **first).layer(), stated(2, **second).layer())


def _claims() -> Iterator[EdgeClaims]:
    for held in Conduction:
        yield EdgeClaims(held=held)
        for mask, by_authority in ((False, False), (True, False), (True, True)):
            yield EdgeClaims(claimed=True, mask=mask, mask_by_authority=by_authority, held=held)
