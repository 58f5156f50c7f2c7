"""Runs with SQL, analyzed as the worker does it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import orjson
import psycopg
from prometheus_client import CollectorRegistry

from lily.bus import topics
from lily.intake.openlineage import Naming
from lily.model import clock
from lily.model.edges import ClaimsEvent, read_claims_event
from lily.model.events import AssetEvent, read_event
from lily.model.records import Record
from lily.model.run_queries import QuerySender
from lily.reactions.event_loop import EventLoop
from lily.reactions.jobs import Task
from lily.reactions.jobs.metrics import JobMetrics
from lily.reactions.jobs.slot import _JobRunner
from lily.reactions.run_queries import Analyzers, AnalyzingQueries
from lily.reactions.run_queries.lake_columns import LakeColumns
from lily.settings import S3
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.jobs.queue import Group, Job, JobQueue, Later
from lily.store.postgres.run_queries.queueing import TASK
from tests.lineage_world import World
from tests.openlineage_words import dataset, run_event
from tests.postgres.migrated import Migrated

_RECORD = Record(topics.ASSETS, 0, 0, clock.now(), None, None)
Edges = set[tuple[str, str]]


class Runs:
    """A tenant whose runs have SQL. `analyze` is the worker's turn: it ends when no job is left. `sender` is that of
    what is taken."""

    sender: QuerySender | None = None

    def __init__(self, world: World, connection: psycopg.Connection[Any], writer: CatalogueWriter) -> None:
        self.world, self._connection, self._writer = world, connection, writer
        self.loop = EventLoop()
        self.analyzers = Analyzers(self.loop)
        self.registry = CollectorRegistry()
        self.appended: list[tuple[str, AssetEvent | ClaimsEvent]] = []
        self.lake = LakeColumns(S3(), self.loop)
        self._analyzing = AnalyzingQueries(
            Naming(), self.registry, self.analyzers, self.appended.extend, lambda: self.lake
        )
        self._queue = JobQueue(connection)
        self._runner = _JobRunner(
            connection, self._queue, {TASK: Task(TASK, self._analyzing.run)}, JobMetrics(self.registry)
        )

    def take(self, output: Any, sql: str, at: str = "11:00", run: str = "r1", **more: Any) -> None:
        """A run of the job that is named like its output."""
        outputs = [dataset(output) if isinstance(output, str) else output]
        job = {"namespace": "shop", "name": outputs[0]["name"], "facets": {"sql": {"query": sql}}}
        time = f"2026-01-01T{at}:00Z"
        event = run_event(eventTime=time, run={"runId": run}, job=job, outputs=outputs) | more
        self.world.take(event, self.sender)

    def complete(self, job: str, at: str = "12:00", run: str = "r1", **more: Any) -> None:
        """Completes a run without SQL."""
        named = {"namespace": "shop", "name": job}
        self.world.take(run_event(eventTime=f"2026-01-01T{at}:00Z", run={"runId": run}, job=named) | more)

    def analyze(self) -> None:
        group = Group(self.world.tenant, TASK)
        while jobs := self._queue.first(group, [TASK], 1):
            assert self._runner.run(jobs[0])
            self.read_back()

    def next_job(self) -> Job:
        (job,) = self._queue.first(Group(self.world.tenant, TASK), [TASK], 1)
        return job

    def run(self, job: Job) -> Later | None:
        with self._connection.transaction():
            return self._analyzing.run(self._connection, job)

    def read_back(self) -> None:
        for topic, appended in self.appended:
            read = read_claims_event if topic == topics.LINEAGE_INTAKE else read_event
            event = read(orjson.loads(orjson.dumps(appended.as_cloudevent())), received=clock.now())
            self._writer.apply(topic, {}, [(_RECORD, event)], [])
        self.appended.clear()

    def derived(self) -> Edges:
        return {(start, end) for start, end, kind in self.world.edges() if kind == "derived-from"}

    def derived_ids(self) -> Edges:
        """By id, also where an end is not in PostgreSQL."""
        return set(
            self._connection.execute(
                "select from_id::text, to_id::text from edges "
                "where tenant_id = %s and type = 'derived-from' and not is_deleted",
                [self.world.tenant],
            )
        )

    def outcomes(self) -> dict[str, float]:
        (metric,) = [metric for metric in self.registry.collect() if metric.name == "lily_run_queries"]
        return {one.labels["outcome"]: one.value for one in metric.samples if one.name.endswith("_total")}


@contextmanager
def opened(migrated: Migrated, world: World) -> Iterator[Runs]:
    url = migrated.url_of("lily_pipeline")
    with psycopg.connect(url, autocommit=True) as connection, closing(CatalogueWriter(url)) as writer:
        made = Runs(world, connection, writer)
        yield made
        made.analyzers.close()
        made.loop.close()
