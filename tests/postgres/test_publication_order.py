"""The relay publishes the changes of an asset in the order in which they were committed, whatever order the batches
began in and wherever the relay died."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import repeat

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lily.bus import topics
from lily.model import clock, ids
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.statements import read_statement
from lily.reactions.relay.publisher import BATCHES_AT_ONCE
from lily.reactions.relay.routing import outgoing
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.outbox.batches import Outbox
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

_WRITERS = 7
_RECORD = Record(topics.ASSETS, 0, 0, clock.now(), None, None)
_ASSETS = ("shop.orders", "shop.people")


class Batch:
    """A transaction of one writer that has its number already."""

    def __init__(self, writer: CatalogueWriter, tenant: str) -> None:
        self._writer, self._tenant = writer, tenant
        self._id = writer._open_batch()

    def change(self, name: str, description: str) -> None:
        stated = {
            "entity_type": "table",
            "qualified_name": name,
            "attributes": {"name": name, "description": description},
        }
        event = AssetEvent(ids.event_id(), clock.now(), self._tenant, read_statement(stated, tenant=self._tenant))
        self._writer._merge_assets(self._id, [(_RECORD, event)])


@contextmanager
def batch(writer: CatalogueWriter, tenant: str) -> Iterator[Batch]:
    with writer._connection.transaction():
        yield Batch(writer, tenant)


@pytest.fixture(scope="module")
def writers(migrated: Migrated) -> Iterator[list[CatalogueWriter]]:
    with ExitStack() as opened:
        url = migrated.url_of("lily_pipeline")
        yield [opened.enter_context(closing(CatalogueWriter(url))) for _ in range(_WRITERS)]


@pytest.fixture(scope="module")
def outbox(migrated: Migrated) -> Iterator[Outbox]:
    with closing(Outbox(migrated.url_of("lily_pipeline"))) as found:
        yield found


Positions = dict[str, list[int]]  # by asset, in the order in which they were published for the first time


def publish(outbox: Outbox, tenant: str, rounds: Iterable[bool], seen: Positions) -> Positions:
    """One round of the relay after the other, adding to `seen`. A round that is False is published and not marked: the
    relay died in between."""
    for survives in rounds:
        if not (batches := outbox.unpublished(BATCHES_AT_ONCE)):
            break
        for event in outgoing(outbox, batches):
            if event.topic == topics.METADATA and event.event["tenantid"] == tenant:
                positions = seen.setdefault(event.event["subject"], [])
                if event.event["data"]["position"] not in positions:
                    positions.append(event.event["data"]["position"])
        if survives:
            outbox.mark_published(batches, {})
    return seen


def test_a_batch_that_began_earlier_and_changed_an_asset_later_is_published_later(
    make_world: Callable[[], World], writers: list[CatalogueWriter], outbox: Outbox
) -> None:
    tenant = make_world().tenant
    with ExitStack() as open_batches:
        begun = [open_batches.enter_context(batch(writer, tenant)) for writer in writers[:-1]]
        with batch(writers[-1], tenant) as last:
            last.change("shop.orders", "older")
        begun[0].change("shop.orders", "newer")
    (positions,) = publish(outbox, tenant, repeat(True), {}).values()
    assert len(positions) == 2
    assert positions == sorted(positions)


@given(data=st.data())
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_order_of_begins_and_commits_and_wherever_the_relay_dies(
    data: st.DataObject, make_world: Callable[[], World], writers: list[CatalogueWriter], outbox: Outbox
) -> None:
    tenant = make_world().tenant
    idle, running = list(writers), list[tuple[CatalogueWriter, ExitStack, Batch]]()
    seen: Positions = {}
    with ExitStack() as unfinished:  # also if there is nothing more to draw in the middle
        for step in range(data.draw(st.integers(8, 40))):
            action = data.draw(st.sampled_from(["begin", "begin", "begin", "commit", "commit", "publish"]))
            if action == "begin" and idle:
                writer, opened = idle.pop(), unfinished.enter_context(ExitStack())
                running.append((writer, opened, opened.enter_context(batch(writer, tenant))))
            elif action == "commit" and running:
                writer, opened, begun = running.pop(data.draw(st.integers(0, len(running) - 1)))
                # Only now, and committed at once: in one thread, a second writer of the asset would wait for ever.
                for name in data.draw(st.sets(st.sampled_from(_ASSETS), min_size=1)):
                    begun.change(name, f"step {step}")
                opened.close()
                idle.append(writer)
            elif action == "publish":
                publish(outbox, tenant, data.draw(st.lists(st.booleans(), max_size=2)), seen)
    publish(outbox, tenant, repeat(True), seen)
    for positions in seen.values():
        assert positions == sorted(positions)


def test_a_decision_of_an_administrator_takes_its_place_in_the_order(
    migrated: Migrated, owner: psycopg.Connection, outbox: Outbox
) -> None:
    """The API's role numbers its batches too, without the right to change any."""
    with psycopg.connect(migrated.url_of("lily_api")) as api:
        row = api.execute("insert into batches (published_at) values (null) returning id").fetchone()
        assert row is not None
        assert row[0] not in outbox.unpublished(1_000_000)
        api.commit()
    assert outbox.unpublished(1_000_000)[-1] == row[0]
    numbers = owner.execute("select commit_number from batches where id = %s", row).fetchall()
    assert None not in numbers[0]
