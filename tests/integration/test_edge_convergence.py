"""Any shuffle, repetition and delay of what is said about edges ends in the graph that the oracle here computes."""

import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from random import Random
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lily.model.edges import Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeStatement
from lily.model.records import Record
from lily.store.postgres.catalogue.writer import BatchCounts, CatalogueWriter
from tests.edge_oracle import (
    ASSETS,
    JOBS,
    KEYS,
    Event,
    Shown,
    all_events,
    claims_events,
    conduction,
    edge_events,
    for_tenant,
    shown,
)
from tests.shared_stack import Stack

Make = Callable[[], tuple[str, str]]

_offsets = count()


def feed(store: CatalogueWriter, found: Sequence[Event]) -> BatchCounts:
    records = [(Record("edges", 0, next(_offsets), event.time, b"", b"{}"), event) for event in found]
    return store.apply("edges", {0: next(_offsets)}, records, [])


def arrivals(found: list[Event], random: Random) -> list[list[Event]]:
    """The events shuffled, some repeated, cut into batches of random size."""
    arriving = found + random.sample(found, random.randint(0, len(found)))
    random.shuffle(arriving)
    stream = iter(arriving)
    return list(iter(lambda: list(islice(stream, random.randint(1, 4))), []))


def stored(database: str, tenant: str) -> dict[EdgeKey, Shown]:
    """The edges that are there."""
    return {key: shown for key, shown in everything(database, tenant).items() if not shown[2]}


def everything(database: str, tenant: str) -> dict[EdgeKey, Shown]:
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            "select from_id::text, to_id::text, type, propagates, masking, is_deleted from edges where tenant_id = %s",
            [tenant],
        ).fetchall()
    return {EdgeKey(*row[:3]): row[3:] for row in rows}


def conducted(database: str, tenant: str) -> dict[EdgeKey, int]:
    with psycopg.connect(database) as connection:
        asked = "select from_id::text, to_id::text, type, conduction from edges where tenant_id = %s"
        rows = connection.execute(asked, [tenant]).fetchall()
    return dict.fromkeys(KEYS, 0) | {EdgeKey(*key): found for *key, found in rows}


@pytest.mark.campaign
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.lists(edge_events(), min_size=1, max_size=12, unique_by=lambda event: event.id), random=st.randoms())
def test_statements_about_edges_converge_in_every_order(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make, found: list[Event], random: Random
) -> None:
    converges(stack, catalogue_writer, make_tenant()[0], found, random)


@pytest.mark.campaign
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.lists(claims_events(), min_size=1, max_size=10, unique_by=lambda event: event.id), random=st.randoms())
def test_what_jobs_claim_converges_in_every_order(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make, found: list[Event], random: Random
) -> None:
    converges(stack, catalogue_writer, make_tenant()[0], found, random)


@pytest.mark.campaign
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=all_events(), random=st.randoms())
def test_sources_people_and_jobs_together_converge(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make, found: list[Event], random: Random
) -> None:
    converges(stack, catalogue_writer, make_tenant()[0], found, random)


def converges(stack: Stack, store: CatalogueWriter, tenant: str, found: list[Event], random: Random) -> None:
    mine = [for_tenant(tenant, event) for event in found]
    for batch in arrivals(mine, random):
        feed(store, batch)
    assert stored(stack.database, tenant) == shown(mine)
    assert conducted(stack.database, tenant) == conduction(mine)
    before = everything(stack.database, tenant)
    assert feed(store, mine).changed == 0
    assert everything(stack.database, tenant) == before
    assert told(stack.database, tenant) == stored(stack.database, tenant)


def told(database: str, tenant: str) -> dict[EdgeKey, Shown]:
    """The edges that are there by what the change log tells: the changes of an edge join on to each other. One that is
    not there may still conduct, or no longer."""
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            "select from_id::text, to_id::text, type, before, after from edge_changes where tenant_id = %s"
            " order by position",
            [tenant],
        ).fetchall()
    state: dict[EdgeKey, dict[str, bool]] = {}
    for *key, before, after in rows:
        known = state.get(EdgeKey(*key))
        was_there, is_there = bool(before and not before["is_deleted"]), not after["is_deleted"]
        assert was_there == bool(known and not known["is_deleted"])
        assert before == known if was_there else is_there or "held" in after or "held" in (before or {})
        assert before != after or "held" in after  # it may conduct more, or less, than it did
        state[EdgeKey(*key)] = after
    return {key: (s["propagates"], s["masking"], False) for key, s in state.items() if not s["is_deleted"]}


def claims(tenant: str, tick: int, run: str, keys: Sequence[EdgeKey], *, complete: bool = True, **more: Any) -> Event:
    told = [Claim(key, more.pop("masking", False)) for key in keys]
    job = more.pop("job", JOBS[0])
    return ClaimsEvent(
        str(uuid.uuid4()), f"2026-01-01T00:00:{tick:02}.000000Z", tenant, job, run, complete, tuple(told), **more
    )


def stated_edge(tenant: str, tick: int, key: EdgeKey, layer: Any, operation: Any = "upsert", **more: Any) -> Event:
    statement = EdgeStatement(layer, operation, key, more.pop("settings", {}), "me", more.pop("authorised", False))
    return EdgeEvent(str(uuid.uuid4()), f"2026-01-01T00:00:{tick:02}.000000Z", tenant, statement)


def test_a_jobs_newest_complete_run_replaces_only_that_jobs_edges(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make
) -> None:
    tenant, _ = make_tenant()
    feed(catalogue_writer, [claims(tenant, 1, "r1", KEYS), claims(tenant, 1, "x", KEYS[:1], job=JOBS[1])])
    feed(catalogue_writer, [claims(tenant, 2, "r2", [], complete=False)])
    assert set(stored(stack.database, tenant)) == set(KEYS)
    feed(catalogue_writer, [claims(tenant, 3, "r2", [EdgeKey(ASSETS[0], ASSETS[2], "derived-from")])])
    assert set(stored(stack.database, tenant)) == {KEYS[0], EdgeKey(ASSETS[0], ASSETS[2], "derived-from")}
    feed(catalogue_writer, [claims(tenant, 4, "y", KEYS[1:], job=JOBS[1])])
    assert set(stored(stack.database, tenant)) == {KEYS[1], EdgeKey(ASSETS[0], ASSETS[2], "derived-from")}


def test_a_completion_without_edges_replaces_nothing(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make
) -> None:
    tenant, _ = make_tenant()
    feed(catalogue_writer, [claims(tenant, 1, "r1", KEYS), claims(tenant, 2, "r2", [])])
    assert set(stored(stack.database, tenant)) == set(KEYS)


def test_a_job_that_never_completes_keeps_what_it_claims(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make
) -> None:
    tenant, _ = make_tenant()
    feed(catalogue_writer, [claims(tenant, 1, "r1", KEYS[:1], complete=False)])
    feed(catalogue_writer, [claims(tenant, 2, "r1", KEYS[1:], complete=False)])
    assert set(stored(stack.database, tenant)) == set(KEYS)


def test_an_edge_that_cannot_be_stored_is_refused_alone(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make
) -> None:
    tenant, _ = make_tenant()
    running: dict[str, Any] = {"job": JOBS[1], "complete": False}
    poison = claims(tenant, 1, "r1", [EdgeKey(ASSETS[0], ASSETS[1], "nul \x00")], **running)
    odd = claims(tenant, 1, "tab\t\\ and\nline", [EdgeKey(ASSETS[0], ASSETS[1], "tab\there")], **running)
    applied = feed(
        catalogue_writer, [claims(tenant, 1, "r1", KEYS), poison, odd, stated_edge(tenant, 1, KEYS[0], "source")]
    )
    assert (applied.merged, applied.refused) == (3, 1)
    assert set(stored(stack.database, tenant)) == {*KEYS, EdgeKey(ASSETS[0], ASSETS[1], "tab\there")}


def test_two_jobs_that_claim_the_same_edges_at_once_do_not_miss_each_other(stack: Stack, make_tenant: Make) -> None:
    tenant, _ = make_tenant()
    random = Random(5)
    edges = [EdgeKey(ASSETS[0], str(uuid.UUID(int=number)), "t") for number in range(10, 20)]

    def runs(job: str) -> list[Event]:
        chosen = (random.sample(edges, random.randint(1, len(edges))) for _ in range(25))
        return [claims(tenant, tick, f"r{tick}", keys, job=job) for tick, keys in enumerate(chosen)]

    def apply(events: Sequence[Event]) -> None:
        store = CatalogueWriter(stack.database_of("lily_pipeline"))
        try:
            for event in events:
                feed(store, [event])
        finally:
            store.close()

    told = [runs(job) for job in JOBS]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(apply, told))
    last = {claim.key for events in told for claim in getattr(events[-1], "claims", ())}
    assert set(stored(stack.database, tenant)) == last
