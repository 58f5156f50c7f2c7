"""A queue, workers in threads of this process, and what their jobs did."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import psycopg
from prometheus_client import CollectorRegistry

from lily.embedded.bootstrap import url_for_role
from lily.reactions.jobs import Jobs, Task
from lily.settings import Jobs as JobSettings
from lily.settings import Settings
from lily.store.postgres.jobs import NewJob, enqueue
from tests.threads import in_thread

PASSWORDS = {"lily_api": "api-password", "lily_pipeline": "pipeline-password"}
TENANTS = ("north", "south")
PATIENCE_SECONDS = 60.0


class Scene:
    def __init__(self, owner: str) -> None:
        self.owner = psycopg.connect(owner, autocommit=True)
        self.owner_url = owner
        self.pipeline_url = self.url_of("lily_pipeline")
        self.pipeline = psycopg.connect(self.pipeline_url, autocommit=True)
        self.registry = CollectorRegistry()
        self.owner.execute("create table done (n bigint generated always as identity, tenant_id text, said text)")
        self.owner.execute("grant select, insert on done to lily_pipeline")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pipeline.close()
        self.owner.close()

    def url_of(self, role: str) -> str:
        return url_for_role(self.owner_url, role, PASSWORDS[role])

    def enqueue(self, tenant: str, *jobs: NewJob) -> list[int]:
        return enqueue(self.pipeline, tenant, *jobs)

    @contextmanager
    def working(self, *tasks: Task, concurrency: int = 4) -> Iterator[Jobs]:
        """A worker. Two of one scene count in the same metrics only if they are not there at once."""
        stop = threading.Event()
        settings = Settings(database_url=self.pipeline_url, jobs=JobSettings(concurrency=concurrency))
        self.registry = CollectorRegistry()
        made = Jobs(settings, stop, self.registry, tasks)
        with in_thread(made.run, stop.set):
            yield made

    def done(self, tenant: str | None = None) -> list[str]:
        rows = self.owner.execute(
            "select said from done where tenant_id = coalesce(%s, tenant_id) order by n", [tenant]
        ).fetchall()
        return [said for (said,) in rows]

    def waiting(self) -> int:
        return int(self.one("select count(*) from queued_jobs"))

    def one(self, statement: str, *values: Any) -> Any:
        row = self.owner.execute(statement.encode(), values).fetchone()
        return row[0] if row else None

    def attempts(self, task: str, outcome: str) -> float:
        return self.registry.get_sample_value("lily_jobs_total", {"task": task, "outcome": outcome}) or 0.0


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
