"""What is committed reaches the topics that it is for: the outbox in PostgreSQL, as the relay reads it."""

import base64
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from lily.bus import topics
from lily.model import clock, ids
from lily.model.errors import Problem
from lily.model.events import AssetEvent
from lily.model.records import Position, Record, Refusal
from lily.model.statements import read_statement
from lily.reactions.relay.routing import Outgoing, outgoing
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.outbox.batches import Outbox, delete_published
from lily.store.postgres.progress.propagated import published_positions
from lily.store.postgres.reactions.ledger import FailedEvent, ReactionLedger
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

ENDS = {topics.GOVERNANCE: {"0": 7}}
PROBLEM = Problem("MALFORMED_JSON", "the event is not JSON", "")


@pytest.fixture
def outbox(migrated: Migrated) -> Iterator[Outbox]:
    with closing(Outbox(migrated.url_of("lily_pipeline"))) as found:
        everything = found.unpublished(1_000_000)
        found.mark_published(everything, ENDS)  # of other tests
        yield found


@pytest.fixture
def writer(migrated: Migrated) -> Iterator[CatalogueWriter]:
    with closing(CatalogueWriter(migrated.url_of("lily_pipeline"))) as found:
        yield found


def sent(outbox: Outbox) -> list[Outgoing]:
    """Everything that is not published, and marks it."""
    batches = outbox.unpublished(1_000)
    found = list(outgoing(outbox, batches))
    outbox.mark_published(batches, ENDS)
    return found


def by_topic(found: list[Outgoing]) -> dict[str, list[dict[str, Any]]]:
    events: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        events.setdefault(one.topic, []).append(one.event)
    return events


def an_event(tenant: str, name: str, **attributes: object) -> AssetEvent:
    data = {"entity_type": "table", "qualified_name": name, "attributes": {"name": name, **attributes}}
    return AssetEvent(ids.event_id(), clock.now(), tenant, read_statement(data, tenant=tenant))


def a_record(tenant: str, offset: int, topic: str = topics.ASSETS) -> Record:
    return Record(topic, 3, offset, clock.now(), f"{tenant}/x".encode(), b"{")


def test_what_the_pipeline_refused_reaches_the_dead_letters(
    outbox: Outbox, writer: CatalogueWriter, make_world: Callable[[], World]
) -> None:
    tenant = make_world().tenant
    record = a_record(tenant, uuid4().int >> 70)  # an offset that no other test has
    writer.apply(
        topics.ASSETS,
        {},
        [(a_record(tenant, record.offset + 1), an_event(tenant, "a"))],
        [Refusal(record, tenant, (PROBLEM,))],
    )
    found = by_topic(sent(outbox))
    assert found.keys() == {topics.METADATA, "dead-letter-events"}
    (letter,) = found["dead-letter-events"]
    assert (letter["type"], letter["tenantid"]) == ("lily.event.refused", tenant)
    assert letter["data"] == {
        "errors": [PROBLEM.as_dict()],
        "topic": topics.ASSETS,
        "partition": 3,
        "offset": record.offset,
        "key_base64": base64.b64encode(f"{tenant}/x".encode()).decode(),
        "original_base64": "ew==",
    }
    assert sent(outbox) == []


def test_what_a_reaction_refused_reaches_the_dead_letters_and_again_if_it_fails_again(
    outbox: Outbox, migrated: Migrated, make_world: Callable[[], World]
) -> None:
    tenant = make_world().tenant
    record = a_record(tenant, uuid4().int >> 70, topics.GOVERNANCE)
    failed = (record.topic, record.partition, record.offset, record.key, record.value)
    with psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True) as connection:
        for code in ("FIRST", "SECOND"):
            ReactionLedger(connection, "note").dead_letter(tenant, [FailedEvent(failed, Problem(code, "x", ""))])  # type: ignore[arg-type]
            (letter,) = by_topic(sent(outbox))[topics.DEAD_LETTERS]
            assert letter["data"]["topic"] == f"{topics.GOVERNANCE}@note"
            assert [error["code"] for error in letter["data"]["errors"]] == [code]


def test_each_kind_of_change_reaches_its_topics_in_the_order_of_positions(
    outbox: Outbox, make_world: Callable[[], World]
) -> None:
    world = make_world()
    world.asset("a", tags=["PII"])
    world.asset("b")
    world.edge("a", "b")
    world.asset("b", owner="ada")
    world.asset("plain")
    found = sent(outbox)  # before propagation has put anything into the graph
    world.settle()
    found += sent(outbox)
    assert {one.key.partition(b"/")[0] for one in found} == {world.tenant.encode()}
    events = by_topic(found)
    assert [event["data"]["qualified_name"] for event in events[topics.METADATA]] == ["a", "b", "b", "plain"]
    assert [event["data"]["change"] for event in events[topics.LINEAGE]] == ["created"]
    assert [(e["data"]["tag"], e["data"]["assets"]) for e in events[topics.PROPAGATED]] == [("pii", [world.id_of("b")])]
    kinds = [(record["kind"], record.get("id", record.get("to"))) for record in events[topics.GOVERNANCE]]
    assert kinds == [("asset", world.id_of("a")), ("asset", world.id_of("b")), ("edge", world.id_of("b"))]
    for topic in (topics.METADATA, topics.LINEAGE, topics.PROPAGATED):
        positions = [event["data"]["position"] for event in events[topic]]
        assert positions == sorted(set(positions))


def test_a_batch_is_published_once_and_only_what_is_marked_is_gone(
    outbox: Outbox, make_world: Callable[[], World]
) -> None:
    world = make_world()
    world.asset("a")
    world.asset("b")
    first, second = outbox.unpublished(10)
    assert outbox.unpublished(1) == [first]
    outbox.mark_published([first], ENDS)
    assert outbox.unpublished(10) == [second]
    assert [one.event["data"]["qualified_name"] for one in outgoing(outbox, [second])] == ["b"]


def test_the_values_of_a_large_layer_are_read_by_themselves(outbox: Outbox, make_world: Callable[[], World]) -> None:
    """So that a page of changes has a bounded size, whatever callers state."""
    world, text = make_world(), random.Random(7).randbytes(20_000).hex()
    world.asset("a")
    world.asset("b", description=text)
    world.asset("c")
    sent(outbox)
    world.asset("a", owner="ada")
    world.asset("b", owner="ada", description=text)
    world.asset("c", owner="ada")
    batches = outbox.unpublished(10)
    pages = [[(row.qualified_name, row.before, row.after) for row in page] for page in outbox.changes(batches)]
    assert [[name for name, *_ in page] for page in pages] == [["a", "b"], ["c"]]
    was = [(before or {}).get("description") for page in pages for _, before, _ in page]
    assert was == [None, text, None]
    events = by_topic(sent(outbox))[topics.METADATA]
    assert [(event["data"]["qualified_name"], [*event["data"]["changed"]]) for event in events] == [
        (name, ["owner"]) for name in ("a", "b", "c")
    ]


def test_a_write_has_propagated_only_after_its_batch_is_published(
    outbox: Outbox, writer: CatalogueWriter, migrated: Migrated, make_world: Callable[[], World]
) -> None:
    tenant, offset = make_world().tenant, uuid4().int >> 70
    topic = f"assets-{offset}"
    records = [(a_record(tenant, offset + n, topic), an_event(tenant, f"t{n}")) for n in range(2)]
    writer.apply(topic, {}, records, [])

    def positions(at: int) -> list[Position] | None:
        return migrated.as_api(lambda database: published_positions(database, [Position(topic, 3, at)]))

    assert positions(offset) is None
    assert positions(offset + 1) is None
    outbox.mark_published(outbox.unpublished(1_000), ENDS)
    expected = [Position(f"{topics.GOVERNANCE}@propagation", 0, 6)]
    assert (positions(offset), positions(offset + 1)) == (expected, expected)
    assert (positions(offset - 1), positions(offset + 2)) == ([], []), "no batch applied these"


def test_one_relay_publishes_at_a_time(outbox: Outbox, migrated: Migrated) -> None:
    with closing(Outbox(migrated.url_of("lily_pipeline"))) as other:
        assert (outbox.try_lock(), other.try_lock()) == (True, False)


def propagated_until(owner: psycopg.Connection, offset: int) -> None:
    reached = (
        "insert into applied (topic, partition, next_offset) values (%s, 0, %s) "
        "on conflict (topic, partition) do update set next_offset = excluded.next_offset"
    )
    owner.execute(reached, [f"{topics.GOVERNANCE}@propagation", offset])


def test_a_batch_that_propagation_has_not_read_is_kept(
    outbox: Outbox, make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    make_world().asset("a")
    (batch,) = outbox.unpublished(10)
    outbox.mark_published([batch], ENDS)
    propagated_until(owner, 6)
    for ago, kept in (("25 hours", 1), ("31 days", 0)):
        owner.execute("update batches set published_at = now() - %s::interval where id = %s", [ago, batch])
        delete_published(owner)
        assert owner.execute("select count(*) from batches where id = %s", [batch]).fetchone() == (kept,)


def test_only_batches_that_were_published_long_ago_are_deleted(
    outbox: Outbox, make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    world = make_world()
    for name in "abc":
        world.asset(name)
    old, young, unpublished = outbox.unpublished(10)
    outbox.mark_published([old, young], ENDS)
    propagated_until(owner, 7)
    owner.execute("update batches set published_at = now() - interval '25 hours' where id = %s", [old])
    assert delete_published(owner) >= 1
    left = {
        batch for (batch,) in owner.execute("select id from batches where id = any(%s)", [[old, young, unpublished]])
    }
    assert left == {young, unpublished}
    history = owner.execute("select count(*) from changes where tenant_id = %s", [world.tenant]).fetchone()
    assert history == (3,)
