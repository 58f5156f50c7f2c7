"""Workers come and go: nothing queued is lost, nothing written twice."""

import subprocess
import sys
import threading
from datetime import timedelta
from typing import Any

import psycopg
from prometheus_client import CollectorRegistry
from psycopg import Connection

from lily.reactions.jobs import Task
from lily.reactions.jobs.housekeeping import housekeeping
from lily.settings import Retention
from lily.store.postgres.jobs import Job, NewJob
from lily.store.postgres.jobs.schedules import Schedule, Schedules
from tests.jobs.scene import Scene, until

TASKS = housekeeping(Retention())

# A worker of its own process, which writes and then hangs in its first job.
HANGING = """
import sys, threading
from prometheus_client import CollectorRegistry
from lily.reactions.jobs import Jobs, Task
from lily.settings import Settings

def hang(connection, job):
    connection.execute("insert into done (tenant_id, said) values (%s, 'half')", [job.tenant])
    print("running", flush=True)
    threading.Event().wait()

Jobs(Settings(database_url=sys.argv[1]), threading.Event(), CollectorRegistry(), [Task("say", hang)]).run()
"""


END_CONNECTIONS = """
    select count(pg_terminate_backend(pid)) from pg_stat_activity
    where application_name like 'lily-jobs%%' and datname = current_database()
"""


def test_the_job_of_a_killed_worker_is_run_again(scene: Scene) -> None:
    scene.enqueue("north", NewJob("say", {}, "one"), NewJob("say", {}, "one"))
    starts: list[int] = []

    def run(connection: Connection[Any], job: Job) -> None:
        starts.append(job.starts)
        connection.execute("insert into done (tenant_id, said) values (%s, 'whole')", [job.tenant])

    with subprocess.Popen([sys.executable, "-c", HANGING, scene.pipeline_url], stdout=subprocess.PIPE) as hanging:
        try:
            assert hanging.stdout is not None
            assert hanging.stdout.readline() == b"running\n"
            with scene.working(Task("say", run)) as worker:
                until(worker.ready.is_set)
                assert scene.done() == []  # the group is held by the other worker
                hanging.kill()
                until(lambda: scene.waiting() == 0)
        finally:
            hanging.kill()
    assert scene.done() == ["whole", "whole"]
    assert starts == [1, 0]


def test_a_worker_that_stops_finishes_the_job_in_hand_and_begins_no_other(scene: Scene) -> None:
    began, go_on = threading.Event(), threading.Event()

    def run(connection: Connection[Any], job: Job) -> None:
        began.set()
        go_on.wait(60)
        connection.execute("insert into done (tenant_id, said) values (%s, %s)", [job.tenant, job.arguments["word"]])

    scene.enqueue("north", *(NewJob("say", {"word": word}, "one") for word in ("first", "second")))
    with scene.working(Task("say", run)):
        assert began.wait(60)
        threading.Timer(0.2, go_on.set).start()  # after the worker was told to stop
    assert (scene.done(), scene.waiting()) == (["first"], 1)
    with scene.working(Task("say", run)):
        until(lambda: scene.done() == ["first", "second"])


def test_a_worker_connects_again(scene: Scene) -> None:
    def run(connection: Connection[Any], job: Job) -> None:
        connection.execute("insert into done (tenant_id, said) values (%s, 'again')", [job.tenant])

    with scene.working(Task("say", run)) as worker:
        until(worker.ready.is_set)
        until(lambda: scene.one(END_CONNECTIONS) > 0)
        until(lambda: not worker.ready.is_set())
        scene.enqueue("north", NewJob("say", {}))
        until(lambda: scene.done() == ["again"])
        until(worker.ready.is_set)


def test_what_recurs_is_queued_once_by_two_workers(scene: Scene) -> None:
    scheduled = "select next_at::text from job_schedules"

    def run(connection: Connection[Any], job: Job) -> None:
        connection.execute("insert into done (tenant_id, said) values (%s, 'tick')", [job.tenant])

    task = Task("tick", run, every=timedelta(hours=1))
    with scene.working(task) as one, scene.working(task) as other:
        until(lambda: one.ready.is_set() and other.ready.is_set())
        until(lambda: scene.done() == ["tick"])
        # Both have slept through three hours.
        before = scene.one("update job_schedules set next_at = next_at - interval '3 hours' returning next_at::text")
        until(lambda: scene.done() == ["tick", "tick"])
        until(lambda: scene.waiting() == 0)
        assert scene.one(scheduled) > before
        assert scene.one("select next_at > now() from job_schedules")
    assert scene.done() == ["tick", "tick"]


def test_of_many_that_look_at_a_schedule_at_once_one_queues_its_job(scene: Scene) -> None:
    with psycopg.connect(scene.pipeline_url, autocommit=True) as connection:
        Schedules(connection).register(Schedule("refresh", "refresh", timedelta(days=1), {"source": 1}, "north"))
    queued: list[int] = []
    gate = threading.Barrier(8)

    def look() -> None:
        with psycopg.connect(scene.pipeline_url, autocommit=True) as connection:
            gate.wait()
            queued.append(Schedules(connection).enqueue_due())

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(queued) == [0] * 7 + [1]
    job = "select jsonb_build_array(tenant_id, job_group, task, arguments) from queued_jobs"
    assert scene.one(job) == ["north", "refresh", "refresh", {"source": 1}]


def test_a_job_that_holds_its_schedule_for_long_delays_no_other_schedule(scene: Scene) -> None:
    """As a run of an enforcement target does: it registers its schedule, and then waits for the target."""
    schedules, slow = Schedules(scene.pipeline), Schedule("refresh", "refresh", timedelta(hours=1), {}, "north")
    schedules.register(slow)
    with psycopg.connect(scene.pipeline_url) as running:
        Schedules(running).register(slow)  # in a transaction that lasts
        schedules.register(Schedule("housekeeping", "housekeeping", timedelta(hours=1), {}))
        scene.pipeline.execute("set lock_timeout = '10s'")  # it fails instead of hanging
        assert schedules.enqueue_due() == 1
        assert scene.one("select job_group from queued_jobs") == "housekeeping"
        running.rollback()
    assert schedules.enqueue_due() == 1


def test_a_schedule_whose_last_job_still_waits_queues_no_other(scene: Scene) -> None:
    schedules = Schedules(scene.pipeline)
    schedules.register(Schedule("refresh", "refresh", timedelta(hours=1), {}, "north"))
    assert schedules.enqueue_due() == 1
    scene.owner.execute("update job_schedules set next_at = now()")
    assert (schedules.enqueue_due(), scene.waiting()) == (0, 1)


def test_a_schedule_with_a_new_interval_takes_it_over(scene: Scene) -> None:
    schedules = Schedules(scene.pipeline)
    schedules.register(Schedule("refresh", "refresh", timedelta(days=1), {}))
    schedules.enqueue_due()
    schedules.register(Schedule("refresh", "refresh", timedelta(hours=1), {}))
    seconds = schedules.seconds_to_next()
    assert seconds is not None
    assert 3000 < seconds <= 3600


def test_housekeeping_removes_what_has_served_its_purpose(scene: Scene) -> None:
    scene.owner.execute(
        "insert into tokens (tenant_id, hash, scopes) values ('north', 'hash', '{admin}');"
        "insert into tickets (hash, tenant_id, token_id, expires_at)"
        " select ticket.hash, tenant_id, id, now() + age::interval"
        " from tokens cross join (values (bytea 'old', '-1 s'), (bytea 'new', '1 h')) as ticket(hash, age);"
        "insert into batches (published_at) values (now() - interval '2 days'), (now()), (null);"
        "insert into access_history (tenant_id, kind, key, version, valid_from, valid_to, body)"
        " select tenant, 'policy', state.key, 1, now() - interval '900 days', now() - ended::interval, '{}'"
        " from (values ('north', 'long ended', '401 days'), ('north', 'ended', '399 days'), ('north', 'valid', null),"
        "              ('south', 'ended', '399 days')) as state (tenant, key, ended)"
    )
    with scene.working(*TASKS):
        until(lambda: all(scene.attempts(task.name, "done") == 1 for task in TASKS))
    assert scene.owner.execute("select hash from tickets").fetchall() == [(b"new",)]
    assert scene.one("select count(*) from batches") == 2
    kept = scene.owner.execute("select tenant_id, key from access_history order by 1, 2").fetchall()
    assert kept == [("north", "ended"), ("north", "valid"), ("south", "ended")]
    complete = "select tenant_id, history_from > now() - interval '400 days 1 hour' from access_versions order by 1"
    assert scene.owner.execute(complete).fetchall() == [("north", True), ("south", False)]


def test_housekeeping_deletes_a_lot_in_many_transactions(scene: Scene) -> None:
    scene.owner.execute(
        "insert into propagated (batch_id, tenant_id, tag, change, root, assets, committed_at)"
        " select n, 'north', 'pii', 'added', gen_random_uuid(), '{}',"
        " now() - case when n <= 12000 then interval '2 days' else interval '1 hour' end"
        " from generate_series(1, 12003) n"
    )
    registry = CollectorRegistry()
    tasks = housekeeping(Retention(), registry)
    name = "forget-propagated-tags"
    with scene.working(*tasks):
        until(lambda: scene.attempts(name, "done") == 1)
    assert scene.one("select count(*) from propagated") == 3
    assert scene.attempts(name, "waits") == 2
    assert registry.get_sample_value("lily_housekeeping_deleted_total", {"task": name}) == 12_000
