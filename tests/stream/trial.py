"""Runs both queries step by step over a log in memory; a step can crash on demand."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pyarrow as pa
from pyspark.sql import DataFrame

from lily.bus import topics
from lily.bus.authority import SigningKey, sign
from lily.model.clock import stamp
from lily.model.columns import AssetRecord, ColumnsEvent
from lily.model.envelopes import FUTURE_SKEW
from lily.model.errors import Problem
from lily.model.events import AssetEvent
from lily.model.lanes import lane_of
from lily.model.records import Record, Refusal
from lily.model.states import AssetState, merge_states
from lily.pipeline.lake.batch import LakeBatch
from lily.pipeline.lake.commits import Commit, last_commit
from lily.pipeline.lake.lookups import LakeLookups
from lily.pipeline.lake.promotion import promote
from lily.store.lake import tables
from lily.store.lake.rows import read_states
from lily.store.postgres.catalogue.writer import CatalogueWriter
from tests.stream.conftest import Lake
from tests.task_lake import KAFKA

KEY = SigningKey.of(bytes(32))
RECEIVED = datetime(2026, 1, 1, 1, tzinfo=UTC)


class Trial:
    """A log of both topics, one partition each. Offsets continue where the last trial in the same lake ended."""

    def __init__(self, lake: Lake, store: CatalogueWriter, tenant: str) -> None:
        self.lake, self.store, self.tenant = lake, store, tenant
        self._last = last_commit(lake.spark).commit
        self._log: dict[str, list[AssetRecord]] = {topics.ASSETS: [], topics.ASSETS_BULK: []}
        self._begin = {topic: self._last.next_offsets.get((topic, 0), 0) for topic in self._log}
        self._applied = 0
        self._lookups = LakeLookups(lake.spark, {})
        database = lake.settings.database_url
        self._batch = LakeBatch(lake.spark, database, FUTURE_SKEW, 1, {}, lambda: self._last, lambda: [KEY])

    def arrive(self, events: Sequence[AssetRecord]) -> None:
        for event in events:
            lane = "bulk" if isinstance(event, ColumnsEvent) else lane_of(event)
            self._log[topics.OF_LANE[lane]].append(event)

    def apply_hot(self, most: int) -> None:
        """The hot query applies the next events."""
        log = [event for event in self._log[topics.ASSETS] if isinstance(event, AssetEvent)]
        waiting = log[self._applied : self._applied + most]
        first = self._begin[topics.ASSETS] + self._applied
        records = [(_record(topics.ASSETS, first + at, event), event) for at, event in enumerate(waiting)]
        self.store.apply("trial", {}, records, [])
        self._applied += len(waiting)

    def refuse_hot(self, problem: Problem) -> None:
        """The hot query refuses the next event."""
        offset = self._begin[topics.ASSETS] + self._applied
        record = _record(topics.ASSETS, offset, self._log[topics.ASSETS][self._applied])
        self.store.apply("trial", {}, [], [Refusal(record, self.tenant, (problem,))])
        self._applied += 1

    def write_lake(self, most: int, crash: str = "") -> None:
        """The lake query writes a batch of the next events, or crashes in the middle of it and restarts."""
        if not any(self._waiting(topic, 1) for topic in self._log):
            return
        batch = self.next_batch(most)
        if crash == "between the two writes":
            self._batch.append_states(self._batch.prepare(batch))
        else:
            written = self._batch.write(batch)
            if not crash:
                self._last = written.commit
                promote(self._lookups, self.store)
                return
        self.restart()

    def next_batch(self, most: int) -> DataFrame:
        """The next events of each topic, as Spark reads them."""
        rows = [row for topic in self._log for row in self._waiting(topic, most)]
        return self.lake.spark.createDataFrame(pa.Table.from_pylist(rows, schema=KAFKA))

    def restart(self) -> None:
        """The lake query starts again, at the newest commit."""
        self._last = last_commit(self.lake.spark).commit

    def settle(self) -> None:
        """Runs both queries until no events are waiting."""
        self.apply_hot(len(self._log[topics.ASSETS]))
        while any(self._waiting(topic, 1) for topic in self._log):
            self.write_lake(1000)
        promote(self._lookups, self.store)

    def end(self, topic: str) -> int:
        """The next offset that the log will assign."""
        return self._begin[topic] + len(self._log[topic])

    @property
    def last(self) -> Commit:
        return self._last

    def in_lake(self) -> dict[tuple[str, str], AssetState]:
        rows = self.lake.spark.table(tables.identifier(tables.ASSETS)).where(f"tenant = '{self.tenant}'").toArrow()
        return merge_states(read_states(rows))

    def events_in_lake(self) -> list[tuple[str, int, str]]:
        rows = self.lake.spark.table(tables.identifier(tables.EVENTS)).where(f"tenant = '{self.tenant}'").collect()
        return sorted((row["topic"], row["offset"], orjson.loads(row["event"])["id"]) for row in rows)

    def logged(self) -> list[tuple[str, int, str]]:
        return sorted(
            (topic, self._begin[topic] + at, event.id)
            for topic, events in self._log.items()
            for at, event in enumerate(events)
        )

    def _waiting(self, topic: str, most: int) -> list[dict[str, Any]]:
        start = self._last.next_offsets.get((topic, 0), 0) - self._begin[topic]
        rows = enumerate(self._log[topic][start : start + most], start + self._begin[topic])
        return [_row(_record(topic, offset, event)) for offset, event in rows]


def _record(topic: str, offset: int, event: AssetRecord) -> Record:
    value = orjson.dumps(event.as_cloudevent())
    return Record(topic, 0, offset, stamp(RECEIVED), event.key, sign(value, [KEY]) if event.has_authority else value)


def _row(record: Record) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": RECEIVED + timedelta(milliseconds=record.offset),
        "key": record.key,
        "value": record.value,
    }
