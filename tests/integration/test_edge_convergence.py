"""Any shuffle, repetition and delay of what is said about edges ends in the graph that the oracle here computes."""

import time
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

from lily.model.edges import EDGE_LAYERS, Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeOperation, EdgeStatement
from lily.model.records import Record
from lily.store.postgres.catalogue.writer import BatchCounts, CatalogueWriter
from tests.shared_stack import Stack

Make = Callable[[], tuple[str, str]]
Event = EdgeEvent | ClaimsEvent
Shown = tuple[bool, bool, bool]  # propagates, masking, is_deleted

_offsets = count()
PATIENCE_SECONDS = 30.0
ASSETS = [str(uuid.UUID(int=number)) for number in range(3)]
JOBS = [str(uuid.UUID(int=number)) for number in range(90, 92)]
KEYS = [EdgeKey(ASSETS[0], ASSETS[1], "derived-from"), EdgeKey(ASSETS[1], ASSETS[2], "used-in")]
TIMES = st.integers(0, 7).map(lambda tick: f"2026-01-01T00:00:0{tick}.000000Z")
IDS = st.integers(0, 2**128 - 1).map(lambda number: str(uuid.UUID(int=number)))
SETTINGS = st.fixed_dictionaries({}, optional=dict.fromkeys(("propagates", "masking"), st.none() | st.booleans()))


@st.composite
def edge_events(draw: st.DrawFn) -> EdgeEvent:
    layer = draw(st.sampled_from(EDGE_LAYERS))
    operation: EdgeOperation = "delete" if draw(st.integers(0, 2)) == 0 else "upsert"
    statement = EdgeStatement(layer, operation, draw(st.sampled_from(KEYS)), draw(SETTINGS), "me")
    return EdgeEvent(draw(IDS), draw(TIMES), "default", statement)


@st.composite
def claims_events(draw: st.DrawFn) -> ClaimsEvent:
    claims = st.builds(Claim, st.sampled_from(KEYS), st.booleans(), st.just(False))
    return ClaimsEvent(
        draw(IDS),
        draw(TIMES),
        "default",
        draw(st.sampled_from(JOBS)),
        draw(st.sampled_from(["r1", "r2", "r3"])),
        draw(st.booleans()),
        tuple(draw(st.lists(claims, max_size=3, unique_by=lambda claim: claim.key))),
    )


def for_tenant(tenant: str, event: Event) -> Event:
    if isinstance(event, EdgeEvent):
        return EdgeEvent(event.id, event.time, tenant, event.statement)
    told = (event.job_id, event.run, event.complete, event.claims, event.by, event.authorised)
    return ClaimsEvent(event.id, event.time, tenant, *told)


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


def oracle(events: Sequence[Event]) -> dict[EdgeKey, Shown]:
    """What the events amount to, in the order of their clocks."""
    once = sorted({event.id: event for event in events}.values(), key=lambda event: (event.time, event.id))
    layers: dict[tuple[EdgeKey, str], dict[str, Any]] = {}
    for event in once:
        if isinstance(event, EdgeEvent):
            layer = layers.setdefault((event.statement.key, event.statement.layer), {})
            layer |= event.statement.settings | {"deleted": event.statement.operation == "delete"}
    live = live_claims([event for event in once if isinstance(event, ClaimsEvent)])
    shown = {key: shown_by(stated(layers, key, "source"), stated(layers, key, "user"), live.get(key)) for key in KEYS}
    return {key: state for key, state in shown.items() if not state[2]}


def stated(layers: dict[tuple[EdgeKey, str], dict[str, Any]], key: EdgeKey, name: str) -> dict[str, Any]:
    return {field: value for field, value in layers.get((key, name), {}).items() if value is not None}


def live_claims(events: Sequence[ClaimsEvent]) -> dict[EdgeKey, list[bool]]:
    """For each edge that is claimed, whether each claim masks it: a claim ends when another run completes after it."""
    newest: dict[tuple[EdgeKey, str, str], tuple[ClaimsEvent, bool]] = {}
    for event in events:
        for key, masking, _ in event.claims:
            newest[key, event.job_id, event.run] = (event, masking)
    found: dict[EdgeKey, list[bool]] = {}
    for (key, job, run), (event, masking) in newest.items():
        ended = any(
            other.job_id == job and other.run != run and other.complete and other.claims and other.clock > event.clock
            for other in events
        )
        if not ended:
            found.setdefault(key, []).append(masking)
    return found


def shown_by(source: dict[str, Any], user: dict[str, Any], claims: list[bool] | None) -> Shown:
    from_source = not source.get("deleted", True)
    masking = [source.get("masking", False)] if from_source or not claims else []
    return (
        user.get("propagates", source.get("propagates", True)),
        user.get("masking", all(masking + (claims or []))),
        user.get("deleted", not from_source and not claims),
    )


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
@given(
    found=st.lists(edge_events() | claims_events(), min_size=1, max_size=12, unique_by=lambda event: event.id),
    random=st.randoms(),
)
def test_sources_people_and_jobs_together_converge(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make, found: list[Event], random: Random
) -> None:
    converges(stack, catalogue_writer, make_tenant()[0], found, random)


def converges(stack: Stack, store: CatalogueWriter, tenant: str, found: list[Event], random: Random) -> None:
    mine = [for_tenant(tenant, event) for event in found]
    for batch in arrivals(mine, random):
        feed(store, batch)
    assert stored(stack.database, tenant) == oracle(mine)
    before = everything(stack.database, tenant)
    assert feed(store, mine).changed == 0
    assert everything(stack.database, tenant) == before
    assert told(stack.database, tenant) == stored(stack.database, tenant)


def told(database: str, tenant: str) -> dict[EdgeKey, Shown]:
    """The edges that are there by what the change log tells: the changes of an edge join on to each other."""
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
        assert before == known if was_there else is_there
        assert before != after
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


def protect(database: str, tenant: str, asset: str, tag: str = "pii") -> None:
    """The asset states a protective tag, as if its source had."""
    with psycopg.connect(database) as connection:
        connection.execute(
            "insert into assets (tenant_id, id, qualified_name, source, source_at, created_at, updated_at)"
            """ values (%s, %s, %s, jsonb_build_object('$type', 'table', 'tags', jsonb_build_object(%s::text, 'T')),"""
            " 'x', now(), now())",
            [tenant, asset, asset, tag],
        )


def audits(database: str, tenant: str) -> list[tuple[str, str, str]]:
    with psycopg.connect(database) as connection:
        asked = "select principal, action, entity from audit where tenant_id = %s and action like 'edge.%%' order by id"
        return connection.execute(asked, [tenant]).fetchall()


@pytest.mark.parametrize(
    ("change", "action"),
    [
        ({"operation": "delete"}, "edge.deleted"),
        ({"settings": {"propagates": False}}, "edge.blocked"),
        ({"settings": {"masking": True}}, "edge.masked"),
    ],
)
@pytest.mark.parametrize("layer", ["source", "user"])
def test_who_may_not_cannot_take_a_protective_tag_away_and_who_may_leaves_a_trace(  # noqa: PLR0917
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make, change: dict[str, Any], action: str, layer: str
) -> None:
    tenant, _ = make_tenant()
    protect(stack.database, tenant, ASSETS[0])
    feed(catalogue_writer, [stated_edge(tenant, 1, key, "source") for key in KEYS])
    before = stored(stack.database, tenant)
    refused = feed(catalogue_writer, [stated_edge(tenant, 2, KEYS[0], layer, **change)])
    assert (refused.merged, refused.refused) == (0, 1)
    assert stored(stack.database, tenant) == before
    assert audits(stack.database, tenant) == []
    allowed = stated_edge(tenant, 3, KEYS[0], layer, authorised=True, **change)
    assert feed(catalogue_writer, [allowed]).changed == 1
    feed(catalogue_writer, [allowed])
    entity = f"{KEYS[0].from_id}→{KEYS[0].to_id} {KEYS[0].type}"
    assert audits(stack.database, tenant) == [("me", action, entity)]
    # The other edge conducts nothing, once the stack's own propagation has followed.
    other = stated_edge(tenant, 2, KEYS[1], layer, **change)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while feed(catalogue_writer, [other]).refused:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_what_takes_no_effect_needs_no_permission(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make
) -> None:
    tenant, _ = make_tenant()
    protect(stack.database, tenant, ASSETS[0], "gdpr")
    feed(catalogue_writer, [stated_edge(tenant, 1, KEYS[0], "source"), stated_edge(tenant, 1, KEYS[0], "user")])
    feed(catalogue_writer, [stated_edge(tenant, 5, KEYS[0], "source")])
    harmless = [
        stated_edge(tenant, 6, KEYS[0], "source", "delete"),  # a person says that it is there
        stated_edge(tenant, 0, KEYS[0], "user", "delete"),  # older than what stands
        stated_edge(tenant, 7, KEYS[0], "user", settings={"masking": True}),  # masking does not stop GDPR
    ]
    assert feed(catalogue_writer, harmless).refused == 0
    assert feed(catalogue_writer, [stated_edge(tenant, 8, KEYS[0], "user", "delete")]).refused == 1


def test_a_run_that_may_not_keeps_the_edges_that_protect(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Make
) -> None:
    tenant, _ = make_tenant()
    protect(stack.database, tenant, ASSETS[0])
    plain = EdgeKey(str(uuid.UUID(int=7)), ASSETS[1], "used-in")  # from an asset that no tag reaches
    feed(catalogue_writer, [claims(tenant, 1, "r1", [KEYS[0], plain])])
    other = [EdgeKey(ASSETS[0], ASSETS[2], "derived-from")]
    assert feed(catalogue_writer, [claims(tenant, 2, "r2", other)]).kept == 1
    assert set(stored(stack.database, tenant)) == {KEYS[0], *other}
    assert feed(catalogue_writer, [claims(tenant, 3, "r3", other)]).kept == 1
    assert feed(catalogue_writer, [claims(tenant, 4, "r4", KEYS[:1], masking=True)]).kept == 2
    assert stored(stack.database, tenant)[KEYS[0]] == (True, False, False)
    assert feed(catalogue_writer, [claims(tenant, 5, "r5", other, authorised=True, by="me")]).kept == 0
    assert set(stored(stack.database, tenant)) == set(other)
    assert [(who, what) for who, what, _ in audits(stack.database, tenant)] == [("me", "edge.deleted")]
