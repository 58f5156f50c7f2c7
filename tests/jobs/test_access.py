"""What each role may do with the queue."""

import asyncio
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from lily.model.errors import Terminal
from lily.store.postgres.dead_letters.records import DeadLetter, read_dead_letters, replay_jobs
from lily.store.postgres.jobs import Job, NewJob, enqueue
from tests.api_database import opened
from tests.jobs.scene import Scene, until
from tests.jobs.test_queue import say, saying


@pytest.fixture
def api(scene: Scene) -> Iterator[psycopg.Connection]:
    with psycopg.connect(scene.url_of("lily_api"), autocommit=True) as connection:
        connection.execute("set lily.tenant = 'north'")
        yield connection


def test_the_api_enqueues_for_its_own_tenant(scene: Scene, api: psycopg.Connection) -> None:
    (id_,) = enqueue(api, "north", NewJob("say", {}))
    assert scene.one("select id from queued_jobs") == id_
    with pytest.raises(InsufficientPrivilege, match="row-level security"):
        enqueue(api, "south", NewJob("say", {}))


@pytest.mark.parametrize(
    "statement",
    [
        "select arguments from queued_jobs",
        "update queued_jobs set task = 'other'",
        "delete from queued_jobs",
        "select name from job_schedules",
        "insert into job_schedules (tenant_id, name, task, every) values ('north', 'a', 'b', '1 hour')",
    ],
)
def test_the_api_does_nothing_else_with_jobs(api: psycopg.Connection, statement: str) -> None:
    with pytest.raises(InsufficientPrivilege):
        api.execute(statement.encode())


def test_housekeeping_sees_only_expired_tickets(scene: Scene) -> None:
    with pytest.raises(InsufficientPrivilege):
        scene.pipeline.execute("select hash from tickets")


def test_a_failed_job_is_shown_to_its_tenant_and_can_be_replayed(scene: Scene) -> None:
    cured: list[int] = []

    def fails(_: Job) -> None:
        if not cured:
            raise Terminal("the channel was deleted")

    (failed,) = scene.enqueue("north", say("hello", "crm"))
    with scene.working(saying(fails)):
        until(lambda: scene.attempts("say", "failed") == 1)
        shown = asyncio.run(shown_to(scene, "north"))
        assert [(letter.topic, letter.offset, letter.replayed_at) for letter in shown] == [("jobs", failed, None)]
        assert asyncio.run(shown_to(scene, "south")) == []
        asyncio.run(replay(scene, "south", shown[0].id))  # not theirs: nothing happens
        asyncio.run(replay(scene, "north", shown[0].id))
        until(lambda: scene.attempts("say", "failed") == 2)
        (again,) = asyncio.run(shown_to(scene, "north"))
        assert (again.id, again.replayed_at) == (shown[0].id, None)
        cured.append(1)
        asyncio.run(replay(scene, "north", again.id))
        until(lambda: scene.done() == ["hello"])
    (done,) = asyncio.run(shown_to(scene, "north"))
    assert done.replayed_at is not None


async def shown_to(scene: Scene, tenant: str) -> list[DeadLetter]:
    async with opened(scene.url_of("lily_api")) as database:
        return await read_dead_letters(database, tenant, below=None, limit=10)


async def replay(scene: Scene, tenant: str, id_: int) -> None:
    async with opened(scene.url_of("lily_api")) as database:
        await replay_jobs(database, tenant, [id_])
