"""How far the queries and the reactions are: an older batch, applied late or again, never moves a position back."""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from lily.model.records import Position
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.lake.commits import LakeLedger
from lily.store.postgres.progress.applied import applied_offsets
from lily.store.postgres.reactions.ledger import ReactionLedger
from lily.store.postgres.usage.writer import UsageWriter
from tests.postgres.migrated import Migrated

Advance = Callable[[str, dict[int, int]], object]


@pytest.fixture
def topic() -> str:
    return f"topic-{uuid4().hex[:8]}"


def applied(owner: psycopg.Connection, topic: str) -> dict[int, int]:
    rows = owner.execute("select partition, next_offset from applied where topic = %s", [topic])
    return dict(rows.fetchall())


def as_catalogue(migrated: Migrated) -> Iterator[tuple[Advance, str]]:
    with closing(CatalogueWriter(migrated.url_of("lily_pipeline"))) as writer:
        yield lambda topic, ends: writer.apply(topic, ends, [], []), ""


def as_reaction(migrated: Migrated) -> Iterator[tuple[Advance, str]]:
    with psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True) as connection:
        ledger = ReactionLedger(connection, "note")
        yield lambda topic, ends: ledger.advance({(topic, at): end for at, end in ends.items()}), "@note"


def as_lake(migrated: Migrated) -> Iterator[tuple[Advance, str]]:
    with closing(LakeLedger(migrated.url_of("lily_pipeline"))) as ledger:

        def advance(topic: str, ends: dict[int, int]) -> None:
            positions = {(topic, at): end for at, end in ends.items()}
            ledger.record(uuid4().int % 10**9, 1, positions, advances=topic)

        yield advance, ""


@pytest.mark.parametrize("writer", [as_catalogue, as_reaction, as_lake])
def test_an_older_batch_does_not_move_a_position_back(
    migrated: Migrated, owner: psycopg.Connection, topic: str, writer: Any
) -> None:
    for advance, suffix in writer(migrated):
        advance(topic, {0: 10, 1: 3})
        advance(topic, {0: 4, 1: 5})
        assert applied(owner, topic + suffix) == {0: 10, 1: 5}
        advance(topic, {0: 11})
        assert applied(owner, topic + suffix) == {0: 11, 1: 5}


def test_the_api_reads_the_positions_of_all_partitions(migrated: Migrated, topic: str) -> None:
    with closing(CatalogueWriter(migrated.url_of("lily_pipeline"))) as writer:
        writer.apply(topic, {0: 10, 1: 3}, [], [])
        assert writer.positions(topic) == {0: 10, 1: 3}
        assert writer.positions(f"{topic}-other") == {}
    found = migrated.as_api(applied_offsets)
    assert (found[topic, 0], found[topic, 1]) == (10, 3)


def test_the_lake_is_never_less_fresh_than_it_was(migrated: Migrated, owner: psycopg.Connection) -> None:
    now = datetime.now(UTC)
    with closing(LakeLedger(migrated.url_of("lily_pipeline"))) as ledger:
        ledger.record_freshness(now, 7)
        ledger.record_freshness(now - timedelta(minutes=1), 6)
        assert owner.execute("select fresh_as_of, batch from lake_progress").fetchall() == [(now, 7)]
        ledger.record_freshness(now + timedelta(minutes=1), 8)
        assert owner.execute("select batch from lake_progress").fetchall() == [(8,)]


def test_an_older_batch_of_usage_does_not_move_its_position_back(
    migrated: Migrated, owner: psycopg.Connection, topic: str
) -> None:
    with closing(UsageWriter(migrated.url_of("lily_pipeline"))) as writer:
        for end in (10, 4):
            writer.apply(Position(topic, 0, end), [], [])
    assert applied(owner, topic) == {0: 10}
