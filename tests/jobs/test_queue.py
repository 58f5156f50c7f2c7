"""Queued jobs on a real PostgreSQL: what they write happens once, in order, and nobody holds up anybody else."""

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from lily.model.errors import Terminal, Transient
from lily.reactions.jobs import Retry, Task
from lily.reactions.jobs.slot import STARTS, TURN_JOBS
from lily.store.postgres.jobs import Group, Job, JobQueue, Later, NewJob, enqueue
from tests.jobs.scene import Scene, until

AT_ONCE = Retry(first=0.01, longest=0.01)


def say(word: str, group: str = "") -> NewJob:
    return NewJob("say", {"word": word}, group)


def saying(fails: Callable[[Job], None] = lambda _: None, retry: Retry = AT_ONCE) -> Task:
    """Writes its word, and then fails as a test wants it to."""

    def run(connection: Connection[Any], job: Job) -> None:
        connection.execute(
            "insert into done (tenant_id, said) values (%s, %s)", [job.tenant, job.arguments.get("word")]
        )
        fails(job)

    return Task("say", run, retry)


def test_a_job_is_run_and_is_gone(scene: Scene) -> None:
    with scene.working(saying()) as worker:
        until(worker.ready.is_set)
        scene.enqueue("north", say("hello"))
        until(lambda: scene.attempts("say", "done") == 1)
    assert (scene.done(), scene.waiting()) == (["hello"], 0)


def test_a_transaction_that_is_rolled_back_leaves_no_job(scene: Scene) -> None:
    with psycopg.connect(scene.pipeline_url) as connection:
        connection.execute("insert into done (tenant_id, said) values ('north', 'with it')")
        enqueue(connection, "north", say("lost"))
        connection.rollback()
        enqueue(connection, "north", say("kept"))
    with scene.working(saying()):
        until(lambda: scene.done() == ["kept"])
    assert scene.waiting() == 0


def test_a_job_waits_for_the_commit_of_its_transaction(scene: Scene) -> None:
    with scene.working(saying()):
        with psycopg.connect(scene.pipeline_url) as connection:
            enqueue(connection, "north", say("first"))
            scene.enqueue("south", say("second"))
            until(lambda: scene.done() == ["second"])
        until(lambda: scene.done() == ["second", "first"])


def test_a_failure_that_may_pass_is_retried_and_leaves_no_trace_of_the_attempt(scene: Scene) -> None:
    def fails_twice(job: Job) -> None:
        if job.attempts < 2:
            raise Transient(f"attempt {job.attempts}\x00")

    scene.enqueue("north", say("hello"))
    with scene.working(saying(fails_twice)):
        until(lambda: scene.waiting() == 0)
        until(lambda: scene.attempts("say", "done") == 1)
        assert scene.attempts("say", "retried") == 2
    assert scene.done() == ["hello"]


def test_a_job_may_fail_for_now_more_often_than_a_process_may_end_during_it(scene: Scene) -> None:
    def fails(job: Job) -> None:
        if job.attempts <= STARTS:
            raise Transient("no answer")

    scene.enqueue("north", say("hello"))
    with scene.working(saying(fails)):
        until(lambda: scene.waiting() == 0)
    assert scene.done() == ["hello"]


def test_pauses_grow_and_end() -> None:
    retry = Retry(first=1, factor=2, longest=5, attempts=5)
    assert [retry.pause_after(failures) for failures in range(1, 6)] == [1, 2, 4, 5, None]
    assert Retry().pause_after(19) == 300


def test_a_retry_waits_for_its_pause_and_says_why(scene: Scene) -> None:
    def fails(_: Job) -> None:
        raise Transient("no answer")

    scene.enqueue("north", say("hello"))
    with scene.working(saying(fails, Retry(first=1000, longest=1000))):
        until(lambda: bool(scene.one("select attempts from queued_jobs")))
        until(lambda: scene.attempts("say", "retried") == 1)
    seconds, reason = scene.owner.execute(
        "select extract(epoch from retry_at - now()), reason from queued_jobs"
    ).fetchone() or (0, "")
    assert 800 < seconds <= 1100
    assert (reason, scene.done()) == ("no answer", [])


LETTER = """
    select jsonb_build_object('tenant', tenant_id, 'topic', topic, 'offset', "offset", 'key', convert_from(key, 'UTF8'),
      'original', convert_from(original, 'UTF8')::jsonb, 'error', errors -> 0) from dead_letters
"""


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (Terminal("the channel was deleted"), "say: Terminal: the channel was deleted"),
        (KeyError("https://a:secret@b"), "say: internal error; search the worker's log for the correlation id ID"),
        (Transient("no answer"), "say: gave up after 3 attempts: Transient: no answer"),
    ],
    ids=["terminal", "a bug", "too many attempts"],
)
def test_what_fails_for_good_becomes_a_dead_letter_and_its_group_goes_on(
    scene: Scene, error: Exception, cause: str
) -> None:
    def fails(job: Job) -> None:
        if job.arguments["word"] == "bad":
            raise error

    bad, _ = scene.enqueue("north", say("bad", "crm"), say("good", "crm"))
    with scene.working(saying(fails, Retry(first=0.01, longest=0.01, attempts=3))):
        until(lambda: scene.waiting() == 0)
        until(lambda: scene.attempts("say", "failed") == 1)
    assert scene.done() == ["good"]
    letter = scene.one(LETTER)
    letter["error"]["description"] = re.sub(r"[0-9a-f-]{36}$", "ID", letter["error"]["description"])
    assert letter == {
        "tenant": "north",
        "topic": "jobs",
        "offset": bad,
        "key": "north/crm",
        "original": {"task": "say", "group": "crm", "arguments": {"word": "bad"}},
        "error": {"code": "JOB_FAILED", "description": cause, "entity": "crm"},
    }


def test_a_group_keeps_its_order_through_retries_while_other_groups_go_on(scene: Scene) -> None:
    healed = threading.Event()

    def fails(job: Job) -> None:
        if job.group == "down" and job.arguments["word"] == "d1" and not healed.is_set():
            raise Transient("no answer")

    scene.enqueue("north", *(say(f"d{number}", "down") for number in range(4)), say("up", "up"))
    with scene.working(saying(fails)), scene.working(saying(fails)):
        until(lambda: sorted(scene.done()) == ["d0", "up"])
        scene.enqueue("north", say("up again", "up"))
        until(lambda: "up again" in scene.done())
        healed.set()
        until(lambda: scene.waiting() == 0)
    assert [word for word in scene.done() if word.startswith("d")] == ["d0", "d1", "d2", "d3"]


def test_no_job_overtakes_one_of_its_group_that_waits_for_an_attempt_or_for_a_worker(scene: Scene) -> None:
    queue, crm = JobQueue(scene.pipeline), Group("north", "crm")
    scene.enqueue("north", say("1", "crm"), say("2", "crm"), NewJob("later", {}, "crm"), say("3", "crm"))
    jobs = queue.first(crm, ["say"], 10)
    assert [job.arguments["word"] for job in jobs] == ["1", "2"]
    queue.postpone(jobs[0], 1_000, "no answer")
    assert queue.first(crm, ["say"], 10) == []


def test_a_job_that_is_not_done_keeps_what_it_wrote_and_its_place(scene: Scene) -> None:
    """However often: that is no failure, and no attempt."""
    seen: list[int] = []

    def run(connection: Connection[Any], job: Job) -> Later | None:
        word = job.arguments["word"]
        connection.execute("insert into done (tenant_id, said) values (%s, %s)", [job.tenant, word])
        seen.append(job.attempts)
        return Later(0.001, "the receiver is busy") if word == "first" and len(seen) < 30 else None

    scene.enqueue("north", say("first", "one"), say("second", "one"))
    with scene.working(Task("say", run)):
        until(lambda: scene.waiting() == 0)
    assert scene.done() == ["first"] * 30 + ["second"]
    assert set(seen) == {0}
    assert scene.attempts("say", "waits") == 29
    assert scene.attempts("say", "retried") == 0


def test_a_job_that_waits_delays_its_group_alone(scene: Scene) -> None:
    def run(connection: Connection[Any], job: Job) -> Later | None:
        if job.arguments["word"] == "waits":
            return Later(3_600.0, "the receiver is down")
        connection.execute("insert into done (tenant_id, said) values (%s, %s)", [job.tenant, job.arguments["word"]])
        return None

    scene.enqueue("north", say("waits", "one"), say("behind", "one"), say("other", "two"))
    with scene.working(Task("say", run)):
        until(lambda: scene.waiting() == 2)
    assert scene.done() == ["other"]
    assert scene.one("select reason from queued_jobs where arguments ->> 'word' = 'waits'") == "the receiver is down"


def test_two_workers_never_run_one_group_at_once(scene: Scene) -> None:
    running: list[int] = []
    together: list[int] = []

    def meanwhile(job: Job) -> None:
        running.append(job.id)
        together.append(len(running))
        threading.Event().wait(0.002)
        running.remove(job.id)

    words = [f"{number:03d}" for number in range(150)]
    scene.enqueue("north", *(say(word, "one") for word in words))
    with scene.working(saying(meanwhile)), scene.working(saying(meanwhile)):
        until(lambda: scene.waiting() == 0)
    assert scene.done() == words
    assert max(together) == 1


def test_a_job_runs_not_before_its_time_and_holds_up_no_earlier_one(scene: Scene) -> None:
    now = datetime.now(UTC)
    scene.enqueue(
        "north",
        NewJob("say", {"word": "tomorrow"}, "one", now + timedelta(days=1)),
        NewJob("say", {"word": "soon"}, "one", now + timedelta(seconds=1)),
        say("now", "one"),
    )
    with scene.working(saying()):
        until(lambda: scene.done() == ["now", "soon"])
    assert (scene.waiting(), datetime.now(UTC) > now + timedelta(seconds=1)) == (1, True)


def test_a_flood_of_one_tenant_delays_no_other(scene: Scene) -> None:
    order: list[str] = []
    flood = [say(f"{number}", f"group {number % 40}") for number in range(2_000)]
    scene.enqueue("north", *flood)
    scene.enqueue("south", say("hello"))
    with scene.working(saying(lambda job: order.append(job.tenant))):
        until(lambda: scene.waiting() == 0)
    assert len(order) == 2_001
    # Two groups of the flood may be on their way, and the turn of each ends after so many jobs.
    assert order.index("south") <= 3 * TURN_JOBS


def test_tenants_alternate_in_a_plan_however_many_groups_one_of_them_has(scene: Scene) -> None:
    scene.enqueue("north", *(say("hello", f"group {number}") for number in range(6)))
    scene.enqueue("south", say("hello", "group 0"), say("hello", "group 1"))
    ready = JobQueue(scene.pipeline).ready(["say"], (), 4)
    assert [group.tenant for group in ready.groups] == ["north", "south", "north", "south"]


def test_slow_jobs_of_one_tenant_leave_slots_to_others(scene: Scene) -> None:
    release = threading.Event()

    def slow(job: Job) -> None:
        if job.tenant == "north":
            release.wait(60)

    scene.enqueue("north", *(say(f"{number}", f"group {number}") for number in range(8)))
    with scene.working(saying(slow)):
        until(lambda: scene.one("select count(*) from queued_jobs where starts > 0") == 2)
        scene.enqueue("south", *(say(f"{number}", f"group {number}") for number in range(20)))
        until(lambda: len(scene.done("south")) == 20)
        assert scene.one("select count(*) from queued_jobs where starts > 0") == 2
        release.set()
        until(lambda: scene.waiting() == 0)


def test_a_job_of_an_unknown_task_waits_for_a_worker_that_knows_it(scene: Scene) -> None:
    scene.enqueue("north", NewJob("later", {}), say("hello"))
    with scene.working(saying()):
        until(lambda: scene.done() == ["hello"])
    assert scene.one("select task from queued_jobs") == "later"


def test_a_job_during_which_processes_end_is_given_up(scene: Scene) -> None:
    scene.enqueue("north", say("deadly", "one"), say("good", "one"))
    scene.owner.execute("update queued_jobs set starts = %s where arguments ->> 'word' = 'deadly'", [STARTS])
    with scene.working(saying()):
        until(lambda: scene.done() == ["good"])
    assert "ended 5 times while it ran this job" in scene.one("select errors -> 0 ->> 'description' from dead_letters")


def test_a_job_that_is_removed_while_it_runs_has_no_effect(scene: Scene) -> None:
    def removed(job: Job) -> None:
        if job.arguments["word"] == "unwanted":
            scene.pipeline.execute("delete from queued_jobs where id = %s", [job.id])

    scene.enqueue("north", say("unwanted", "one"), say("wanted", "one"))
    with scene.working(saying(removed)):
        until(lambda: scene.done() == ["wanted"])
    assert scene.waiting() == 0


def test_the_whole_queue_is_measured(scene: Scene) -> None:
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    scene.enqueue("north", NewJob("later", {}, run_at=long_ago), NewJob("later", {}))
    with scene.working(saying()):
        until(lambda: scene.registry.get_sample_value("lily_jobs_waiting") == 2)
        assert (scene.registry.get_sample_value("lily_jobs_oldest_seconds") or 0) >= 3600
