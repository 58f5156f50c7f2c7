"""The job queue in the running stack: its worker keeps house, and a tenant sees and replays its failed jobs."""

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
from prometheus_client import CollectorRegistry
from psycopg import Connection

from lily.model.errors import Terminal
from lily.reactions.jobs import Jobs, Task
from lily.reactions.jobs.housekeeping import housekeeping
from lily.settings import Retention, Settings
from lily.store.postgres.jobs import Job, NewJob, enqueue
from tests.contract.door import client
from tests.shared_stack import Stack

TASKS = housekeeping(Retention())

PATIENCE_SECONDS = 60.0


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_a_failed_job_is_a_dead_letter_and_is_replayed_over_http(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenant, token = make_tenant()
    _, other = make_tenant()
    name, ran, cured, stop = f"test-{uuid.uuid4().hex[:12]}", [], threading.Event(), threading.Event()

    def deliver(_: Connection[Any], job: Job) -> None:
        if not cured.is_set():
            raise Terminal("the channel was deleted; choose another one")
        ran.append((job.id, job.tenant, job.arguments))

    settings = Settings(database_url=stack.database_of("lily_pipeline"))
    worker = threading.Thread(target=Jobs(settings, stop, CollectorRegistry(), [Task(name, deliver)]).run, daemon=True)
    worker.start()
    try:
        with (
            psycopg.connect(settings.database_url, autocommit=True) as connection,
            client(stack, token) as http,
            client(stack, other) as others,
        ):
            (id_,) = enqueue(connection, tenant, NewJob(name, {"text": "hello"}, "crm"))
            until(lambda: bool(http.get("/dead-letters").json()["items"]))
            (letter,) = http.get("/dead-letters").json()["items"]
            assert (letter["topic"], letter["offset"], letter["errors"][0]["code"]) == ("jobs", id_, "JOB_FAILED")
            assert "choose another one" in letter["errors"][0]["description"]
            assert others.get("/dead-letters").json()["items"] == []
            assert others.post("/dead-letters/replay", json={"ids": [letter["id"]]}).json()["replayed"] == 0
            cured.set()
            assert http.post("/dead-letters/replay", json={"ids": [letter["id"]]}).json()["replayed"] == 1
            until(lambda: bool(ran))
            assert http.get("/dead-letters").json()["items"][0]["replayed_at"] is not None
    finally:
        stop.set()
        worker.join(PATIENCE_SECONDS)
    assert ran == [(id_, tenant, {"text": "hello"})]


def test_the_worker_of_the_stack_keeps_house(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> None:
    _, token = make_tenant()
    with client(stack, token) as http, psycopg.connect(stack.database, autocommit=True) as owner:
        served = "select task from job_schedules where tenant_id = '' and next_at > now()"
        until(lambda: {task.name for task in TASKS} <= {name for (name,) in owner.execute(served)})
        waiting = "select count(*) from queued_jobs where tenant_id = ''"
        until(lambda: owner.execute(waiting).fetchone() == (0,))
        metrics = http.get("/metrics").text
    for task in TASKS:
        assert f'lily_jobs_total{{outcome="done",task="{task.name}"}}' in metrics
    assert "lily_jobs_oldest_seconds" in metrics
