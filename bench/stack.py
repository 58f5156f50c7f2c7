"""An embedded stack for the measurements: started in a temporary directory, looked into, stopped, nothing left."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil  # type: ignore[import-untyped]
import psycopg
from confluent_kafka import Consumer, TopicPartition

from bench.events import Payloads, asset, producer, send
from bench.findings import BenchError
from lily.bus.topics import ASSETS, ASSETS_BULK, GOVERNANCE, LINEAGE_INTAKE
from lily.embedded.kafka.users import brokers_of
from lily.embedded.ports import choose_ports
from lily.embedded.state import load
from lily.store.postgres.propagation.propagator import PROPAGATION
from lily.store.postgres.reactions.ledger import progress_topic

LOOK = 0.02  # seconds between looks at the applied positions: a look costs PostgreSQL about 50 µs
PATIENCE = 300.0
CALM = 0.25  # cores: below this the pipeline neither writes nor compacts
CALM_SECONDS = 3.0
START_SECONDS = 240
SPINE = "kafka,postgres,pipeline,worker"  # all that the log needs to become the catalogue and the change log


class BenchStack:
    """One running stack. `database` is the owner's connection, for looking; no measured path uses it."""

    def __init__(self, data_dir: Path, answer: dict[str, Any], start_seconds: float) -> None:
        self.data_dir, self.start_seconds = data_dir, start_seconds
        self.url: str = answer["url"]
        self.token: str = answer["token"]
        self.kafka = brokers_of(load(data_dir)).client()
        self.database_url: str = answer["database"]
        self.ports = load(data_dir).ports
        self.database = psycopg.connect(self.database_url, autocommit=True, application_name="bench")
        self._consumer = Consumer({**self.kafka, "group.id": "bench-ends"})
        self._assets = 0
        self.columns = 0  # of the bulk lane, sent so far (bench.columns)

    def close(self) -> None:
        self._consumer.close()
        self.database.close()

    def fill(self, assets: int) -> None:
        """Makes sure that the catalogue holds the assets 0 to `assets`, all of them through the log."""
        missing = Payloads(asset(number) for number in range(self._assets, assets))
        if not len(missing):
            return
        log = producer(self.kafka)
        send(log, missing, len(missing))
        log.flush(60)
        self._assets = assets
        self.settle()
        # What autovacuum does by itself within minutes of such a load.
        self.database.execute("vacuum analyze assets")

    def ends(self, topic: str = ASSETS) -> dict[int, int]:
        """The next offset of every partition of the topic; of the hot one unless told otherwise."""
        partitions = self._consumer.list_topics(topic, timeout=15).topics[topic].partitions
        return {p: self._consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=15)[1] for p in partitions}

    def applied(self, topic: str = ASSETS) -> dict[int, int]:
        """The next offset of every partition of the topic that cannot be read yet."""
        query = "select partition, next_offset from applied where topic = %s"
        return dict(self.database.execute(query, [topic]).fetchall())

    def lag(self, topic: str = ASSETS) -> int:
        """Events of the topic that cannot be read yet."""
        applied = self.applied(topic)
        return sum(max(end - applied.get(partition, 0), 0) for partition, end in self.ends(topic).items())

    def wait_applied(self, ends: dict[int, int], topic: str = ASSETS) -> float:
        """When everything below the given offsets could be read, as the clock then said."""
        self._wait(lambda: _reached(self.applied(topic), ends), LOOK, "the pipeline did not catch up")
        return time.time()

    def settle(self) -> None:
        """Returns when nothing is left to apply and nothing to publish."""
        self.wait_applied(self.ends())
        self._wait_published(0.1)

    def wait_travelled(self) -> float:
        """When everything of the hot lane and all edges could be read and had travelled, as the clock then said."""
        for topic in (ASSETS, LINEAGE_INTAKE):
            self.wait_applied(self.ends(topic), topic)
        self._wait_published(LOOK)
        for topic in (GOVERNANCE,):
            self.wait_applied(self.ends(topic), progress_topic(topic, PROPAGATION))
        return time.time()

    def _wait_published(self, pause: float) -> None:
        unpublished = "select 1 from batches where published_at is null limit 1"
        self._wait(lambda: not self.database.execute(unpublished).fetchone(), pause, "the relay did not catch up")

    def settle_lake(self) -> None:
        """Returns when the lake has everything of both lanes and compaction has come to rest."""
        ends = {topic: self.ends(topic) for topic in (ASSETS, ASSETS_BULK)}
        self._wait(lambda: self._lake_has(ends), 0.1, "the lake did not catch up")
        self._wait_calm()

    def settle_hot_lane(self) -> None:
        """As `settle_lake`, of a stack whose lake does nothing."""
        self.settle()
        self._wait_calm()

    def _wait_calm(self) -> None:
        self._wait(self._is_calm, 0.0, "the pipeline did not come to rest")

    def lake_commits(self) -> int:
        row = self.database.execute("select coalesce(max(number), 0) from lake_batches").fetchone()
        return int(row[0]) if row else 0

    def wait_first_lake_commit(self) -> None:
        """The lake's query begins with a batch, whatever its trigger: of what the hot lane was warmed up with."""
        self._wait(self.lake_commits, 0.1, "the lake did not start")

    def _lake_has(self, ends: dict[str, dict[int, int]]) -> bool:
        newest = self.database.execute("select positions from lake_batches order by number desc limit 1").fetchone()
        positions = newest[0] if newest else {}
        found = {topic: {int(at): end for at, end in positions.get(topic, {}).items()} for topic in ends}
        return all(_reached(found[topic], wanted) for topic, wanted in ends.items())

    def _is_calm(self) -> bool:
        """Watches the pipeline for a few seconds."""
        before = cpu_seconds_of(self.processes("pipeline"))
        time.sleep(CALM_SECONDS)
        return cpu_seconds_of(self.processes("pipeline")) - before < CALM * CALM_SECONDS

    @staticmethod
    def _wait(done: Callable[[], object], pause: float, complaint: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > deadline:
                raise BenchError(f"{complaint} within {PATIENCE:.0f} seconds")
            time.sleep(pause)

    @contextmanager
    def paused_pipeline(self) -> Iterator[None]:
        """Freezes every process of the pipeline; its supervisor would replace it only after a minute."""
        tree = self.processes("pipeline")
        try:
            _signal(tree, signal.SIGSTOP)
            yield
        finally:
            _signal(tree, signal.SIGCONT)

    def cpu_seconds(self) -> dict[str, float]:
        """Processor time spent so far by each part, and by `all` with the supervisor."""
        names = [part.name for part in load(self.data_dir).parts]
        return {"all": cpu_seconds_of(self.processes())} | {
            name: cpu_seconds_of(self.processes(name)) for name in names
        }

    def processes(self, part: str = "") -> list[psutil.Process]:
        """The processes of one part, or of the whole stack with its supervisor."""
        state = load(self.data_dir)
        running = next((found.running for found in state.parts if found.name == part), state.supervisor)
        process = running.process()
        if process is None:
            raise BenchError(f"{part or 'the stack'} is not running; see its log")
        return [process, *process.children(recursive=True)]


def _reached(positions: dict[int, int], ends: dict[int, int]) -> bool:
    return all(positions.get(partition, 0) >= end for partition, end in ends.items())


def _signal(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # it has ended since it was listed
            process.send_signal(number)


def cpu_seconds_of(processes: list[psutil.Process]) -> float:
    """Ended children are counted with their parents, so that no time is lost when a process ends."""
    total = 0.0
    for process in reversed(processes):  # parents last: one that ends meanwhile is counted there
        with suppress(psutil.NoSuchProcess):
            spent = process.cpu_times()
            total += spent.user + spent.system + spent.children_user + spent.children_system
    return total


def spent(before: dict[str, float], after: dict[str, float], per: float) -> dict[str, float]:
    """The difference of two looks at `cpu_seconds`, for each of so many seconds or events."""
    return {name: (seconds - before.get(name, 0.0)) / per for name, seconds in after.items()}


def lily(*words: str, data_dir: Path, settings: Mapping[str, str] = MappingProxyType({})) -> str:
    """Runs a command and answers the last line it printed. Raises BenchError with what it said."""
    command = [sys.executable, "-m", "lily", *words, "--data-dir", str(data_dir), "--format", "json"]
    receivers = {"LILY_OUTBOUND__ALLOWED_NETWORKS": '["127.0.0.0/8"]'}  # where they are
    environment = receivers | os.environ | dict(settings)
    done = subprocess.run(command, capture_output=True, text=True, timeout=START_SECONDS, check=False, env=environment)
    if done.returncode != 0:
        raise BenchError(f"lily {words[0]} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout.splitlines()[-1]


def start(parts: str = "", settings: Mapping[str, str] = MappingProxyType({})) -> BenchStack:
    """Starts a stack of all parts, or of the given ones, in a directory of its own. Settings are as the environment has
    them: `LILY_…`."""
    data_dir = Path(tempfile.mkdtemp(prefix="lily-bench-")).resolve()
    data_dir.chmod(0o755)  # PostgreSQL may run as another user, who has to get in
    words = ["up", "--detach", "--port", str(choose_ports(["api"], {})["api"])]
    try:
        began = time.monotonic()
        answer = json.loads(lily(*words, *(["--parts", parts] if parts else []), data_dir=data_dir, settings=settings))
        return BenchStack(data_dir, answer, time.monotonic() - began)
    except BaseException:
        remove(data_dir)
        raise


def stop(stack: BenchStack) -> None:
    stack.close()
    remove(stack.data_dir)


def remove(data_dir: Path) -> None:
    """Stops whatever runs in the directory and deletes it."""
    try:
        lily("down", data_dir=data_dir)
    finally:
        place = data_dir / "postgres"
        if place.is_symlink():  # where that other user could not get in, PostgreSQL's files lie elsewhere
            shutil.rmtree(place.readlink().parent, ignore_errors=True)
        shutil.rmtree(data_dir, ignore_errors=True)
