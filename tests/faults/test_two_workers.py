"""One of two workers is killed in mid-load: every change is handled once, and the offsets prove it."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count

import psycopg
import pytest

from lily.app import log_ends, reactions
from lily.bus import topics
from lily.model import clock, ids
from lily.model.edges import EdgeEvent, EdgeKey, EdgeStatement
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.statements import Statement
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.propagation.propagator import PROPAGATION
from lily.store.postgres.reactions.ledger import progress_topic
from tests.faults.own_stack import OwnStack

pytestmark = pytest.mark.faults

TENANTS = ("one", "two", "three")
BATCHES, ASSETS = 60, 20  # for each tenant: so many commits, with so many tagged sources in each
PATIENCE_SECONDS = 90.0

_numbers = count()


def test_one_of_two_workers_is_killed_in_mid_load(engines: OwnStack, pipeline_database: str) -> None:
    for tenant in TENANTS:
        create_tenant(engines.database, tenant)
    store = CatalogueWriter(pipeline_database)
    try:
        with ExitStack() as stack:
            first, _ = (stack.enter_context(_worker(engines, pipeline_database)) for _ in range(2))
            _until(lambda: _leases(engines.database) == [1, 1])
            for number in range(BATCHES):
                for tenant in TENANTS:
                    _commit(store, tenant, number)
                if number == BATCHES // 2:
                    os.kill(first.pid, signal.SIGKILL)
            _until(lambda: _is_done(engines))
    finally:
        store.close()
    _every_change_was_handled(engines)
    _every_announcement_was_made_once(engines)


def _every_change_was_handled(engines: OwnStack) -> None:
    settings = engines.kafka.settings()
    for reaction, read in ((PROPAGATION, topics.GOVERNANCE), ("feed", topics.PROPAGATED)):
        ends = {partition: end for (_, partition), end in log_ends(settings, [read]).items() if end}
        applied = "select partition, next_offset from applied where topic = %s"
        with psycopg.connect(engines.database) as connection:
            offsets: dict[int, int] = dict(connection.execute(applied, [progress_topic(read, reaction)]).fetchall())
            (left,) = connection.execute("select count(*) from reaction_turns").fetchone() or (None,)
        assert offsets == ends
        assert left == 0
    with psycopg.connect(engines.database) as connection:
        derived = connection.execute("select tenant_id, count(*) from derived_tags group by 1 order by 1").fetchall()
    assert derived == sorted((tenant, BATCHES * ASSETS) for tenant in TENANTS)


def _every_announcement_was_made_once(engines: OwnStack) -> None:
    """Propagation is idempotent and could hide a repetition; an announcement is a row each time."""
    with psycopg.connect(engines.database) as connection:
        rows = connection.execute("select tenant_id, body from announcements").fetchall()
    announced = Counter((tenant, asset) for tenant, body in rows for asset, _, _ in body["assets"])
    assert len(announced) == len(TENANTS) * BATCHES * ASSETS
    assert set(announced.values()) == {1}


def _commit(store: CatalogueWriter, tenant: str, number: int) -> None:
    """Tagged sources, and an edge from each to a target of its own, as the pipeline commits them."""
    names = [f"{number}.{asset}" for asset in range(ASSETS)]
    events: list[tuple[Record, AssetEvent | EdgeEvent]] = []
    for name in names:
        said = Statement("source", "upsert", name, "table", {"name": name, "tags": ["PII"]})
        events.append((_record(topics.ASSETS), AssetEvent(f"e{next(_numbers)}", clock.now(), tenant, said)))
    store.apply("load", {0: next(_numbers)}, events, [])
    edges: list[tuple[Record, AssetEvent | EdgeEvent]] = []
    for name in names:
        key = EdgeKey(ids.asset_id(tenant, name), ids.asset_id(tenant, f"{name}.target"), "used-in")
        edge = EdgeStatement("source", "upsert", key, {})
        edges.append((_record(topics.LINEAGE_INTAKE), EdgeEvent(f"e{next(_numbers)}", clock.now(), tenant, edge)))
    store.apply("load", {0: next(_numbers)}, edges, [])


def _record(topic: str) -> Record:
    return Record(topic, 0, next(_numbers), clock.now(), b"", b"")


@contextmanager
def _worker(engines: OwnStack, database: str) -> Iterator[subprocess.Popen[bytes]]:
    settings = {**engines.kafka.variables_of("worker"), "LILY_DATABASE_URL": database}
    command = [sys.executable, "-m", "lily", "worker", "--data-dir", str(engines.data_dir)]
    with subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.DEVNULL) as worker:
        try:
            yield worker
        finally:
            worker.kill()


def _leases(database: str) -> list[int]:
    """How many partitions each worker holds for propagation."""
    statement = (
        "select count(*) from pg_locks l join pg_stat_activity a using (pid) where a.application_name = %s "
        "and l.locktype = 'advisory' and l.mode = 'ExclusiveLock' and l.classid = 27749 group by pid"
    )
    with psycopg.connect(database) as connection:
        return [held for (held,) in connection.execute(statement, [f"lily-{PROPAGATION}"])]


def _is_done(engines: OwnStack) -> bool:
    with psycopg.connect(engines.database) as connection:
        (unpublished,) = connection.execute("select count(*) from batches where published_at is null").fetchone() or (
            0,
        )
    status = reactions(engines.kafka.settings())
    return not unpublished and not any(reaction["lag"] for reaction in status.values())


def _until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.2)
