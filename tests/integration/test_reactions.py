"""Reactions on the real log and the real store: what they write happens once, and nobody holds up anybody else."""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from prometheus_client import CollectorRegistry
from psycopg import Connection

from lily.model.errors import Transient
from lily.reactions import runner
from lily.reactions.base import Event
from lily.reactions.metrics import ReactionMetrics
from lily.reactions.runner import ReactionRunner
from lily.reactions.status import reaction_status
from lily.settings import Reactions, Settings
from lily.store.postgres.reactions.ledger import progress_topic
from tests.contract.door import client
from tests.shared_stack import Stack
from tests.threads import in_thread

PATIENCE_SECONDS = 60.0


class Note:
    """A reaction whose effect is a row for each event, and which fails as a test wants it to."""

    def __init__(self, topic: str, *, fails: Callable[[str, str], None] = lambda _tenant, _said: None) -> None:
        self.name, self.topics, self._fails = topic, (topic,), fails
        self._connection: Connection[Any] | None = None

    def open(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def handle(self, tenant: str, events: Sequence[Event]) -> bool | None:
        assert self._connection is not None
        for event in events:
            said = event.value.decode()
            self._connection.execute(
                "insert into noted (reaction, tenant_id, said) values (%s, %s, %s)", [self.name, tenant, said]
            )
            self._fails(tenant, said)
        return None


@dataclass
class Scene:
    """A topic and a reaction of the test's own, beside those of the stack."""

    stack: Stack
    name: str
    partitions: int = 2
    settings: Settings = field(init=False)
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    def __post_init__(self) -> None:
        self.settings = Settings(
            kafka_bootstrap=self.stack.kafka.brokers.bootstrap,
            kafka=self.stack.kafka.brokers.security,
            database_url=self.stack.database_of("lily_pipeline"),
            reactions=Reactions(batch_events=500, tenant_events=50),
        )
        admin = AdminClient(self.stack.kafka.client)
        for created in admin.create_topics([NewTopic(self.name, self.partitions, 1)]).values():
            created.result(30)
        self.metrics = ReactionMetrics(self.registry)

    def say(self, *events: tuple[str, str]) -> None:
        """Events of tenants, in order; those of one tenant are in one partition."""
        producer = Producer(self.stack.kafka.client)
        for tenant, said in events:
            producer.produce(self.name, said.encode(), f"{tenant}/asset".encode())
        assert producer.flush(30) == 0

    @contextmanager
    def running(self, reaction: Note) -> Iterator[ReactionRunner]:
        stop = threading.Event()
        made = ReactionRunner(self.settings, reaction, stop, self.metrics)
        with in_thread(made.run, stop.set):
            yield made

    def noted(self, tenant: str | None = None) -> list[str]:
        with psycopg.connect(self.stack.database) as connection:
            rows = connection.execute(
                "select said from noted where reaction = %s and tenant_id = coalesce(%s, tenant_id) order by id",
                [self.name, tenant],
            ).fetchall()
        return [said for (said,) in rows]

    def one(self, statement: str, *values: Any) -> Any:
        with psycopg.connect(self.stack.database) as connection:
            row = connection.execute(statement.encode(), values).fetchone()
        return row[0] if row else None

    def read_so_far(self) -> int:
        """Events that the committed offsets lie behind."""
        topic = progress_topic(self.name, self.name)
        return int(self.one("select coalesce(sum(next_offset), 0) from applied where topic = %s", topic))

    def parked(self) -> int:
        return int(self.one("select count(*) from parked_events where reaction = %s", self.name))

    def failures(self, outcome: str) -> float:
        labels = {"reaction": self.name, "outcome": outcome}
        return self.registry.get_sample_value("lily_reaction_failures_total", labels) or 0.0


@pytest.fixture(scope="module", autouse=True)
def _notes(stack: Stack) -> None:
    with psycopg.connect(stack.database) as connection:
        connection.execute(
            "create table if not exists noted "
            "(id bigint generated always as identity, reaction text, tenant_id text, said text)"
        )
        connection.execute("grant select, insert on noted to lily_pipeline")


@pytest.fixture
def scene(stack: Stack) -> Scene:
    return Scene(stack, f"test-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def tenants(make_tenant: Callable[[], tuple[str, str]]) -> list[str]:
    return sorted(make_tenant()[0] for _ in range(3))


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_every_event_is_handled_once_and_in_order_and_the_offsets_say_so(scene: Scene, tenants: list[str]) -> None:
    said = [(tenants[number % 3], f"{number:03d}") for number in range(60)]
    scene.say(*said)
    with scene.running(Note(scene.name)):
        until(lambda: scene.read_so_far() == 60)
    for tenant in tenants:
        assert scene.noted(tenant) == [word for whose, word in said if whose == tenant]
    scene.say((tenants[0], "later"))
    with scene.running(Note(scene.name)):
        until(lambda: scene.read_so_far() == 61)
    assert Counter(scene.noted()) == Counter([*(word for _, word in said), "later"])
    assert scene.one("select count(*) from reaction_turns where reaction = %s", scene.name) == 0


def test_what_fails_between_two_tenants_of_a_turn_repeats_neither(scene: Scene, tenants: list[str]) -> None:
    first, second, _ = tenants
    scene.say((second, "a"), (second, "b"), (first, "c"))  # the turn begins with the tenant that has less
    died: list[str] = []

    def die_once(tenant: str, said: str) -> None:
        if tenant == second and not died:
            died.append(said)
            raise psycopg.OperationalError("the connection was lost")

    with scene.running(Note(scene.name, fails=die_once)):
        until(lambda: scene.read_so_far() == 3)
    assert died
    assert sorted(scene.noted()) == ["a", "b", "c"]


def test_a_poisonous_event_becomes_a_dead_letter_and_holds_up_nobody(scene: Scene, tenants: list[str]) -> None:
    def poison(_: str, said: str) -> None:
        if said == "poison":
            raise ValueError("cannot be handled")

    words = ["a", "poison", "b", "c"]
    scene.say(*((tenants[0], word) for word in words), (tenants[1], "d"))
    with scene.running(Note(scene.name, fails=poison)):
        until(lambda: scene.read_so_far() == 5)
    assert sorted(scene.noted()) == ["a", "b", "c", "d"]
    letter = scene.one(
        "select jsonb_build_object('tenant', tenant_id, 'key', convert_from(key, 'UTF8'), 'original', "
        "convert_from(original, 'UTF8'), 'code', errors -> 0 ->> 'code') from dead_letters where topic = %s",
        progress_topic(scene.name, scene.name),
    )
    assert letter == {
        "tenant": tenants[0], "key": f"{tenants[0]}/asset", "original": "poison", "code": "REACTION_FAILED",
    }  # fmt: skip
    assert scene.failures("dead_letter") == 1


def test_a_dead_letter_of_a_reaction_is_replayed_to_that_reaction(
    scene: Scene, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenant, token = make_tenant()
    cured = threading.Event()

    def poison(_: str, said: str) -> None:
        if said == "poison" and not cured.is_set():
            raise ValueError("cannot be handled")

    scene.say((tenant, "poison"), (tenant, "a"))
    with client(scene.stack, token) as http, scene.running(Note(scene.name, fails=poison)):
        until(lambda: scene.read_so_far() == 2)
        (letter,) = http.get("/dead-letters").json()["items"]
        assert http.post("/dead-letters/replay", json={"ids": [letter["id"]]}).json()["replayed"] == 1
        until(lambda: scene.failures("dead_letter") == 2)
        until(lambda: scene.parked() == 0)
        (again,) = http.get("/dead-letters").json()["items"]
        assert (again["id"], again["replayed_at"], scene.noted()) == (letter["id"], None, ["a"])
        cured.set()
        assert http.post("/dead-letters/replay", json={"all": True}).json()["replayed"] == 1
        until(lambda: scene.noted() == ["a", "poison"])


def test_a_tenant_whose_events_fail_for_now_is_retried_and_others_go_on(
    scene: Scene, tenants: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "PAUSES", (1,))
    unwell, well, _ = tenants
    healed = threading.Event()

    def away(tenant: str, _: str) -> None:
        if tenant == unwell and not healed.is_set():
            raise Transient("their server does not answer")

    scene.say((unwell, "1"), (well, "a"), (unwell, "2"))
    with scene.running(Note(scene.name, fails=away)):
        until(lambda: scene.read_so_far() == 3)
        assert scene.noted() == ["a"]
        scene.say((unwell, "3"), (well, "b"))
        until(lambda: scene.noted(well) == ["a", "b"])
        assert "does not answer" in scene.one("select reason from parked_tenants where reaction = %s", scene.name)
        healed.set()
        until(lambda: scene.noted(unwell) == ["1", "2", "3"])
        until(lambda: scene.parked() == 0)
    assert scene.one("select count(*) from parked_tenants where reaction = %s", scene.name) == 0
    assert scene.failures("parked") >= 1


class Poisoned(Note):
    """Runs a statement for each event of one tenant."""

    def __init__(self, topic: str, tenant: str, statement: str) -> None:
        super().__init__(topic)
        self._tenant, self._statement = tenant, statement

    def handle(self, tenant: str, events: Sequence[Event]) -> None:
        super().handle(tenant, events)
        if tenant == self._tenant:
            assert self._connection is not None
            self._connection.execute(self._statement.encode())


@pytest.mark.parametrize(
    "statement",
    [
        "set local statement_timeout = 10; select pg_sleep(10)",
        "do $$ begin raise exception 'another run was faster' using errcode = '40001'; end $$",
        "do $$ begin raise exception 'no space' using errcode = '53100'; end $$",
    ],
    ids=["takes too long", "always conflicts", "needs too much"],
)
def test_a_tenant_whose_work_the_server_keeps_refusing_delays_nobody(
    scene: Scene, tenants: list[str], monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    monkeypatch.setattr(runner, "PAUSES", (300,))
    sick, well, late = tenants
    scene.say((sick, "1"), (well, "a"), (well, "b"), (sick, "2"))
    with scene.running(Poisoned(scene.name, sick, statement)):
        until(lambda: scene.read_so_far() == 4)
        scene.say((sick, "3"), (late, "c"))
        until(lambda: scene.read_so_far() == 6)
        assert sorted(scene.noted()) == ["a", "b", "c"]
        assert scene.parked() == 3
        assert "PostgreSQL refused it" in scene.one("select reason from parked_tenants where reaction = %s", scene.name)
    with scene.running(Note(scene.name)):
        end_pause(scene)
        until(lambda: scene.noted(sick) == ["1", "2", "3"])


def test_a_tenant_whose_work_ends_the_connection_each_time_delays_nobody(
    scene: Scene, tenants: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "PAUSES", (300,))
    monkeypatch.setattr(runner, "RESTART_SECONDS", (0.1,))
    sick, well, late = tenants
    scene.say((sick, "1"), (well, "a"), (well, "b"))
    with scene.running(Poisoned(scene.name, sick, "select pg_terminate_backend(pg_backend_pid())")):
        until(lambda: scene.read_so_far() == 3)
        scene.say((sick, "2"), (late, "c"))
        until(lambda: scene.read_so_far() == 5)
        assert sorted(scene.noted()) == ["a", "b", "c"]
        assert "was lost 3 times" in scene.one("select reason from parked_tenants where reaction = %s", scene.name)
        end_pause(scene)  # it tries again, loses the connection again, and waits again
        until(lambda: scene.one("select attempts from parked_tenants where reaction = %s", scene.name) >= 2)
        scene.say((well, "d"))
        until(lambda: scene.noted(well) == ["a", "b", "d"])
    with scene.running(Note(scene.name)):
        end_pause(scene)
        until(lambda: scene.noted(sick) == ["1", "2"])


def end_pause(scene: Scene) -> None:
    scene.one("update parked_tenants set retry_at = now() where reaction = %s returning 1", scene.name)


def test_events_that_come_while_a_tenant_is_parked_wait_behind_the_parked_ones(
    scene: Scene, tenants: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "PAUSES", (300,))
    failed: list[str] = []

    def fail_once(_: str, said: str) -> None:
        if not failed:
            failed.append(said)
            raise Transient("their server does not answer")

    scene.say((tenants[0], "1"), (tenants[0], "2"))
    with scene.running(Note(scene.name, fails=fail_once)):
        until(lambda: scene.read_so_far() == 2)
        scene.say((tenants[0], "3"))
        until(lambda: scene.read_so_far() == 3)
        assert (scene.noted(), scene.parked()) == ([], 3)
        end_pause(scene)
        until(lambda: scene.parked() == 0)
    assert scene.noted() == ["1", "2", "3"]


def test_the_pause_of_a_tenant_grows_with_each_failure_in_a_row(
    scene: Scene, tenants: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "PAUSES", (100, 1_000, 10_000))

    def pause_after(attempts: int) -> float:
        seconds = (
            "select extract(epoch from retry_at - now()) from parked_tenants where reaction = %s and attempts = %s"
        )
        until(lambda: scene.one(seconds, scene.name, attempts) is not None)
        return float(scene.one(seconds, scene.name, attempts))

    def fails(_: str, __: str) -> None:
        raise Transient("their server does not answer")

    scene.say((tenants[0], "1"))
    with scene.running(Note(scene.name, fails=fails)):
        assert 0 < pause_after(1) <= 100
        end_pause(scene)
        assert 100 < pause_after(2) <= 1_000
        end_pause(scene)
        assert 1_000 < pause_after(3) <= 10_000


def test_a_flood_of_one_tenant_waits_its_turn_and_keeps_its_order(scene: Scene, tenants: list[str]) -> None:
    loud, quiet, _ = tenants
    flood = [(loud, f"{number:04d}") for number in range(400)]
    scene.say(*flood, (quiet, "hello"))
    order: list[str] = []
    with scene.running(Note(scene.name, fails=lambda tenant, _: order.append(tenant))):
        until(lambda: len(scene.noted()) == 401)
        until(lambda: scene.parked() == 0)
    assert scene.noted(loud) == [said for _, said in flood]
    assert order.index(quiet) <= 150  # a few shares of one turn, and not the 400 that came before it


class InParts(Note):
    """Handles an event of the first tenant in three transactions at least, and in as many as it takes until the other
    tenant's event was handled. Others are handled at once."""

    PARTS = 3
    MOST = 2_000  # a reaction that lets nobody in between ends too

    def __init__(self, topic: str, tenant: str, other: str) -> None:
        super().__init__(topic)
        self._tenant, self._other = tenant, other

    def handle(self, tenant: str, events: Sequence[Event]) -> bool:
        if tenant != self._tenant:
            super().handle(tenant, events)
            return False
        assert self._connection is not None
        part = f"part of {events[0].value.decode()}"
        noted = "select count(*) from noted where reaction = %s and tenant_id = %s and said = %s"
        (parts,) = self._connection.execute(noted, [self.name, tenant, part]).fetchone() or (0,)
        heard = "select exists (select from noted where reaction = %s and tenant_id = %s)"
        (is_heard,) = self._connection.execute(heard, [self.name, self._other]).fetchone() or (False,)
        if parts < self.PARTS or (not is_heard and parts < self.MOST):
            note = "insert into noted (reaction, tenant_id, said) values (%s, %s, %s)"
            self._connection.execute(note, [self.name, tenant, part])
            return True
        super().handle(tenant, events)
        return False


def test_a_reaction_that_goes_on_with_its_events_lets_others_have_their_turn(scene: Scene, tenants: list[str]) -> None:
    large, small, _ = tenants
    scene.say((large, "first"))
    with scene.running(InParts(scene.name, large, small)):
        until(lambda: len(scene.noted(large)) >= 2)
        assert scene.parked() > 0
        scene.say((small, "hello"), (large, "second"))
        until(lambda: scene.parked() == 0 and "second" in scene.noted(large))
    noted = scene.noted(large)
    parts = noted.index("first")
    assert InParts.PARTS <= parts < InParts.MOST
    assert noted == ["part of first"] * parts + ["first"] + ["part of second"] * InParts.PARTS + ["second"]
    assert scene.noted(small) == ["hello"]
    assert scene.one("select count(*) from parked_tenants where reaction = %s", scene.name) == 0


def test_two_workers_share_the_partitions_and_one_takes_over_from_the_other(scene: Scene, tenants: list[str]) -> None:
    words = [(tenants[number % 3], f"{number:04d}") for number in range(300)]

    def leased(each: Sequence[int]) -> bool:
        count = "select count(*) from pg_locks where pid = %s and locktype = 'advisory' and mode = 'ExclusiveLock'"
        return sorted(int(scene.one(count, pid)) for pid in backends()) == list(each)

    def backends() -> list[int]:
        with psycopg.connect(scene.stack.database) as connection:
            asked = "select pid from pg_stat_activity where application_name = %s"
            return [pid for (pid,) in connection.execute(asked, [f"lily-{scene.name}"])]

    with scene.running(Note(scene.name)):
        until(lambda: leased([2]))
        with scene.running(Note(scene.name)):
            until(lambda: leased([1, 1]))
            scene.say(*words)
            until(lambda: scene.read_so_far() == 300)
        until(lambda: leased([2]))
        scene.one("select pg_terminate_backend(%s)", backends()[0])
        scene.say((tenants[0], "after"))
        until(lambda: scene.read_so_far() == 301)
    assert Counter(scene.noted()) == Counter([*(said for _, said in words), "after"])


def test_parked_events_count_as_lag(stack: Stack, tenants: list[str]) -> None:
    """Parked without their tenant: no worker drains them."""
    with psycopg.connect(stack.database, autocommit=True) as connection:
        parked = connection.execute(
            'insert into parked_events (reaction, tenant_id, topic, partition, "offset", key, value) '
            "select 'feed', %s, 'a-topic', 0, number, '', '' from generate_series(1, 3) as number returning id",
            [tenants[0]],
        ).fetchall()
        status = reaction_status(stack.database, {}, [])["feed"]
        connection.execute("delete from parked_events where id = any(%s)", [[id_ for (id_,) in parked]])
    assert status["lag"] == status["parked"] >= 3
