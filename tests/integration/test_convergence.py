"""Any shuffle, repetition and delay of the same events ends in the catalogue that an independent oracle computes."""

import uuid
from collections.abc import Callable
from itertools import count, islice
from random import Random
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.layers import Layer
from lily.model.records import Record
from lily.model.statements import Statement
from lily.store.postgres.catalogue.writer import CatalogueWriter
from tests import oracle
from tests.oracle_form import as_oracle
from tests.shared_stack import Stack
from tests.strategies import PARENTS, events

pytestmark = pytest.mark.campaign  # it replays whole histories

_offsets = count()


def feed(store: CatalogueWriter, found: list[AssetEvent]) -> int:
    """Applies a batch; answers how many changes it logged."""
    records = [(Record("convergence", 0, next(_offsets), event.time, b"", b""), event) for event in found]
    return store.apply("convergence", {0: next(_offsets)}, records, []).changed


def for_tenant(tenant: str, event: AssetEvent) -> AssetEvent:
    return AssetEvent(event.id, event.time, tenant, event.statement)


def batches(found: list[AssetEvent], random: Random) -> list[list[AssetEvent]]:
    """The events shuffled, some repeated, cut into batches of random size."""
    arrivals = found + random.sample(found, random.randint(0, len(found)))
    random.shuffle(arrivals)
    stream = iter(arrivals)
    return list(iter(lambda: list(islice(stream, random.randint(1, 4))), []))


def stored(database: str, tenant: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The catalogue of a tenant, told as the oracle tells it."""
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            'select qualified_name, source, enriched, "user", created_at, updated_at from assets where tenant_id = %s',
            [tenant],
        ).fetchall()
    return {(tenant, name): told(tenant, layers, created, updated) for name, *layers, created, updated in rows}


def told(tenant: str, layers: list[dict[str, Any] | None], created: Any, updated: Any) -> dict[str, Any]:
    parents = {ids.asset_id(tenant, name): name for name in PARENTS}
    asset: dict[str, Any] = {"created_at": created, "updated_at": updated}
    for name, fields in zip(("source", "enriched", "user"), layers, strict=True):
        if fields is not None:
            asset[name] = as_oracle(fields, parents)
    return asset


def comparable(catalogue: dict[tuple[str, str], dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    from_text = {key: dict(asset) for key, asset in catalogue.items()}
    for asset in from_text.values():
        for field in ("created_at", "updated_at"):
            if not isinstance(asset[field], str):
                asset[field] = asset[field].strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return from_text


@pytest.mark.campaign
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.lists(events(), min_size=1, max_size=12, unique_by=lambda event: event.id), random=st.randoms())
def test_every_arrival_order_ends_in_the_same_catalogue(
    stack: Stack,
    catalogue_writer: CatalogueWriter,
    make_tenant: Callable[[], tuple[str, str]],
    found: list[AssetEvent],
    random: Random,
) -> None:
    tenant, _ = make_tenant()
    mine = [for_tenant(tenant, event) for event in found]
    for batch in batches(mine, random):
        feed(catalogue_writer, batch)
    feed(catalogue_writer, mine)
    assert comparable(stored(stack.database, tenant)) == oracle.catalogue(mine)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.lists(events(), min_size=1, max_size=12, unique_by=lambda event: event.id), random=st.randoms())
def test_a_full_replay_changes_nothing(
    stack: Stack,
    catalogue_writer: CatalogueWriter,
    make_tenant: Callable[[], tuple[str, str]],
    found: list[AssetEvent],
    random: Random,
) -> None:
    tenant, _ = make_tenant()
    mine = [for_tenant(tenant, event) for event in found]
    feed(catalogue_writer, mine)
    before = everything(stack.database, tenant)
    replayed = [feed(catalogue_writer, batch) for batch in batches(mine * 2, random)]
    assert sum(replayed) == 0
    assert everything(stack.database, tenant) == before


def everything(database: str, tenant: str) -> list[tuple[Any, ...]]:
    """Except whether the lake has been asked for their past: the stack's own lake query does that meanwhile."""
    asked = "select to_jsonb(a) - 'awaits_lake' from assets a where tenant_id = %s order by id"
    with psycopg.connect(database) as connection:
        return connection.execute(asked, [tenant]).fetchall()


def test_an_event_that_postgresql_cannot_store_is_refused_alone(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenant, _ = make_tenant()
    good = [event_of(tenant, f"shop.t{number}", {"name": "t"}) for number in range(9)]
    poison = event_of(tenant, "shop.poison", {"name": "t", "owner": "NUL \x00 reached the store"})
    records = [(Record("poison", 0, next(_offsets), e.time, b"", b"{}"), e) for e in [*good[:4], poison, *good[4:]]]
    applied = catalogue_writer.apply("poison", {0: next(_offsets)}, records, [])
    assert (applied.merged, applied.refused) == (9, 1)
    with psycopg.connect(stack.database) as connection:
        (errors,) = (
            connection.execute("select errors from dead_letters where tenant_id = %s", [tenant]).fetchone() or ()
        )
    assert errors[0]["code"] == "NOT_STORABLE"
    assert errors[0]["entity"] == "shop.poison"


def event_of(tenant: str, name: str, attributes: dict[str, Any]) -> AssetEvent:
    statement = Statement("source", "upsert", name, "table", attributes)
    return AssetEvent(str(uuid.uuid4()), "2026-01-01T00:00:00.000000Z", tenant, statement)


@pytest.mark.parametrize("layer", ["source", "user"])
def test_a_batch_that_states_one_asset_in_two_layers_keeps_them_apart(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Callable[[], tuple[str, str]], layer: str
) -> None:
    tenant, _ = make_tenant()
    source = event_of(tenant, "shop.t", {"name": "t", "owner": "alice"})
    person = AssetEvent(
        str(uuid.uuid4()), source.time, tenant, Statement("user", "upsert", "shop.t", None, {"owner": "bob"})
    )
    feed(catalogue_writer, [source, person] if layer == "source" else [person, source])
    (asset,) = stored(stack.database, tenant).values()
    assert (asset["source"]["owner"], asset["user"]["owner"]) == ("alice", "bob")


def test_a_layer_read_back_from_the_store_is_the_layer_that_was_written(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenant, _ = make_tenant()
    event = event_of(
        tenant, "shop.t", {"name": 'back\\slash "quoted"', "tags": ["PII"], "n": 1.5, "deep": {"a": [None]}}
    )
    feed(catalogue_writer, [event])
    with psycopg.connect(stack.database) as connection:
        row = connection.execute("select source, source_at, source_clocks from assets where tenant_id = %s", [tenant])
        assert Layer(*(row.fetchone() or ())) == event.layer()


def test_the_oldest_time_counts_even_where_nothing_else_is_new(
    stack: Stack, catalogue_writer: CatalogueWriter, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenant, _ = make_tenant()
    statement = Statement("source", "upsert", "shop.t", "table", {"name": "t"})
    older = AssetEvent(str(uuid.uuid4()), "2026-01-01T00:00:00.000000Z", tenant, statement)
    newer = AssetEvent(str(uuid.uuid4()), "2026-01-02T00:00:00.000000Z", tenant, statement)
    feed(catalogue_writer, [newer])
    feed(catalogue_writer, [older, newer])
    (asset,) = comparable(stored(stack.database, tenant)).values()
    assert (asset["created_at"], asset["updated_at"]) == (older.time, newer.time)


def test_a_person_who_clears_what_was_never_set_changes_nothing(
    catalogue_writer: CatalogueWriter, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenant, _ = make_tenant()
    feed(catalogue_writer, [event_of(tenant, "shop.t", {"name": "t"})])
    cleared = Statement("user", "upsert", "shop.t", None, {"owner": None})
    assert feed(catalogue_writer, [AssetEvent(str(uuid.uuid4()), "2026-01-03T00:00:00.000000Z", tenant, cleared)]) == 0
