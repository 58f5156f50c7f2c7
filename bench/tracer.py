"""Latency from produced to queryable, seen from outside: marked events go into the log, PostgreSQL is asked for them.

A few assets are restated in turn, one every few milliseconds. An event is visible when its asset's row carries the
event's clock or a later one. The look comes every few milliseconds too, so a latency is overstated by up to that much.
The pipeline's own counters have no part in this.
"""

import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

import orjson
import psycopg

from bench.events import TENANT, asset, producer, statement
from bench.findings import BenchError
from lily.bus.topics import ASSETS, key_of
from lily.model import clock, ids
from lily.model.events import AssetEvent
from lily.model.statements import read_statement

EVERY = 0.01
TRACED = 8  # several, so that every partition is seen
PATIENCE = 60.0


class Tracer:
    """Begins when made. `latencies` waits for the last event to be seen."""

    def __init__(self, kafka: Mapping[str, Any], database_url: str, seconds: float, tenant: str = TENANT) -> None:
        self._kafka, self._database_url, self._tenant = kafka, database_url, tenant
        self._traced = [asset(number, kind="tracer", tenant=tenant) for number in range(TRACED)]
        self._until = time.time() + seconds
        self._sent: dict[str, deque[tuple[str, float]]] = {of.id: deque() for of in self._traced}
        self._seen: list[float] = []
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._send, self._look)]
        for thread in self._threads:
            thread.start()

    def latencies(self) -> list[float]:
        """In seconds, one for each event. Raises BenchError if some were never seen."""
        for thread in self._threads:
            thread.join()
        if lost := sum(map(len, self._sent.values())):
            raise BenchError(f"{lost} tracer events were not queryable {PATIENCE:.0f} seconds later")
        return self._seen

    def _send(self) -> None:
        log = producer(self._kafka)
        due, turn = time.time(), 0
        while due < self._until:
            of = self._traced[turn % TRACED]
            stated = read_statement(statement(of, turn), tenant=self._tenant)
            event = AssetEvent(ids.event_id(), clock.now(), self._tenant, stated)
            value = orjson.dumps(event.as_cloudevent())
            self._sent[of.id].append((event.clock, time.time()))
            log.produce(ASSETS, value, key_of(self._tenant, of.id))
            log.poll(0)
            due, turn = due + EVERY, turn + 1
            time.sleep(max(0.0, due - time.time()))
        log.flush(30)

    def _look(self) -> None:
        query = "select id::text, source_at from assets where tenant_id = %s and id = any(%s::uuid[])"
        wanted = [self._tenant, [of.id for of in self._traced]]
        with psycopg.connect(self._database_url, autocommit=True, application_name="bench-tracer") as connection:
            while time.time() < self._until + PATIENCE:
                began = time.time()
                rows = connection.execute(query, wanted).fetchall()
                now = time.time()
                for asset_id, newest in rows:
                    waiting = self._sent[asset_id]
                    while waiting and waiting[0][0] <= newest:
                        self._seen.append(now - waiting.popleft()[1])
                if now > self._until + EVERY * 2 and not any(self._sent.values()):
                    return
                time.sleep(max(0.0, began + EVERY - now))
