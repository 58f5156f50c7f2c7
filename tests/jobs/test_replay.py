"""A dead letter is replayed once, however many calls replay it at the same time."""

import asyncio
from collections.abc import Sequence

import pytest
from psycopg.types.json import Jsonb

from lily.api.http.errors import Declined
from lily.api.ingest.replay import Replay
from lily.bus import topics
from lily.bus.producer import LogUnavailable
from lily.model.access import Principal
from lily.model.records import Position
from lily.store.postgres.queries import query
from tests.api_database import opened
from tests.jobs.scene import Scene

ALL = frozenset({"admin"})


class Log:
    """Confirms when the test lets it."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.values: list[bytes] = []
        self.failure = failure

    def append(self, records: Sequence[tuple[str, bytes, bytes]]) -> asyncio.Future[list[Position]]:
        self.values += [value for _, _, value in records]
        future: asyncio.Future[list[Position]] = asyncio.get_running_loop().create_future()
        if self.failure is None:
            asyncio.get_running_loop().call_later(0.05, future.set_result, [])
        else:
            future.set_exception(self.failure)
        return future


def dead_letters(scene: Scene, topic: str, count: int, tenant: str = "north") -> list[int]:
    for offset in range(count):
        letter = {
            "batch": 1,
            "tenant": tenant,
            "topic": topic,
            "partition": 0,
            "offset": offset + 1_000,
            "key": f"{tenant}/x".encode(),
            "original": b'{"task": "none", "group": "g", "arguments": {"n": %d}}' % offset,
            "errors": Jsonb([{"code": "X", "description": "x", "entity": ""}]),
        }
        scene.pipeline.execute(query("reactions/dead_letter"), letter)
    rows = scene.pipeline.execute("select id from dead_letters where topic = %s order by id", [topic]).fetchall()
    return [id_ for (id_,) in rows]


def unreplayed(scene: Scene) -> object:
    return scene.one("select count(*) from dead_letters where replayed_at is null")


def replays(
    scene: Scene, log: Log, ids: list[int] | None = None, *, scopes: frozenset[str] = ALL, calls: int = 1
) -> list[list[int]]:
    async def run() -> list[list[int]]:
        async with opened(scene.url_of("lily_api")) as database:
            principal = Principal("token", "north", "", scopes)
            return await asyncio.gather(*(Replay(database, log, principal).run(ids) for _ in range(calls)))

    return asyncio.run(run())


@pytest.mark.parametrize("named", [True, False])
def test_concurrent_replays_append_each_event_once(scene: Scene, named: bool) -> None:  # noqa: FBT001
    letters, log = dead_letters(scene, topics.ASSETS, 120), Log()
    done = replays(scene, log, letters if named else None, calls=4)
    assert sorted(id_ for ids in done for id_ in ids) == letters
    assert len(log.values) == 120
    assert replays(scene, log, letters) == [[]]
    assert len(log.values) == 120


@pytest.mark.parametrize(("topic", "table"), [("jobs", "queued_jobs"), ("a-topic@a-reaction", "parked_events")])
def test_concurrent_replays_repeat_each_job_and_reaction_once(scene: Scene, topic: str, table: str) -> None:
    letters = dead_letters(scene, topic, 60)
    done = replays(scene, Log(), calls=4)
    assert sorted(id_ for ids in done for id_ in ids) == letters
    assert scene.one(f"select count(*) from {table}") == 60  # noqa: S608
    scene.pipeline.execute(f"delete from {table}".encode())  # noqa: S608 - as if they had run
    assert replays(scene, Log(), letters) == [[]]
    assert scene.one(f"select count(*) from {table}") == 0  # noqa: S608


def test_what_the_log_did_not_confirm_can_be_replayed_again(scene: Scene) -> None:
    letters = dead_letters(scene, topics.ASSETS, 3)
    with pytest.raises(LogUnavailable):
        replays(scene, Log(LogUnavailable("not confirmed")))
    assert unreplayed(scene) == 3
    assert replays(scene, Log()) == [letters]
    assert unreplayed(scene) == 0


@pytest.mark.parametrize(
    ("topic", "scope"), [(topics.LINEAGE_INTAKE, "lineage:write"), ("jobs", "admin"), ("a-topic@a-reaction", "admin")]
)
def test_a_letter_needs_the_scope_of_what_it_repeats(scene: Scene, topic: str, scope: str) -> None:
    (letter,) = dead_letters(scene, topic, 1)
    (asset,) = dead_letters(scene, topics.ASSETS, 1)
    log, weak = Log(), frozenset({"metadata:write"})
    with pytest.raises(Declined, match=scope):
        replays(scene, log, [asset, letter], scopes=weak)
    assert (unreplayed(scene), log.values) == (2, [])
    assert replays(scene, log, scopes=weak) == [[asset]]
    assert replays(scene, log, scopes=weak | {scope}) == [[letter]]
