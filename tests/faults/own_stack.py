"""A stack of one's own, to be ill-treated: started and stopped by the command line, looked at through its records."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from confluent_kafka import KafkaException

from lily.app import lag, log_ends
from lily.bus import offsets, topics
from lily.bus.authority import SigningKeys, Verifier
from lily.embedded.bootstrap import master_key_of
from lily.embedded.ports import choose_ports
from lily.embedded.process import last_lines
from lily.embedded.state import PartState, StackState, load
from lily.store.postgres.access.secrets import read_master_keys
from lily.store.postgres.propagation.propagator import PROPAGATION
from lily.store.postgres.queries import query
from tests.kafka_access import KafkaAccess

SETTLE_SECONDS = 150.0  # the longest backoff, a cold Spark and the backlog, on a busy machine


@dataclass(frozen=True, slots=True)
class OwnStack:
    data_dir: Path
    url: str
    database: str

    @property
    def kafka(self) -> KafkaAccess:
        return KafkaAccess(self.data_dir)

    @property
    def state(self) -> StackState:
        return load(self.data_dir)

    @property
    def signatures(self) -> Verifier:
        """As the pipeline verifies who has authority."""
        return Verifier(SigningKeys(master_key_of(self.data_dir), read_master_keys)())

    def part(self, name: str) -> PartState:
        return next(part for part in self.state.parts if part.name == name)

    def is_whole(self) -> bool:
        """Whether `lily status` says so: the answer a user would go by."""
        told = command("status", data_dir=self.data_dir)
        return told.returncode == 0 and json.loads(told.stdout)["ready"] is True

    def wait_until_settled(self, seconds: float = SETTLE_SECONDS) -> float:
        """Returns, with how long it took, when all parts are healthy, the log is applied, published and propagated."""
        began = time.monotonic()
        while missing := self._missing():
            if time.monotonic() - began > seconds:
                raise AssertionError(f"after {seconds:.0f} s {missing}\n{self._last_words()}")
            time.sleep(0.3)
        return time.monotonic() - began

    def _missing(self) -> str:
        """What there is to wait for; empty when there is nothing."""
        state = self.state
        assert state.supervised(), f"the supervisor is gone: {last_lines(self.data_dir / 'logs' / 'supervisor.log')}"
        sick = {part.name: part.state for part in state.parts if part.state != "healthy"}
        if sick or state.phase != "ready":
            return f"these parts are not healthy: {sick}"
        try:
            settings = self.kafka.settings()
            behind = lag(settings)
            with psycopg.connect(self.database) as connection:
                (batches,) = (
                    connection.execute("select count(*) from batches where published_at is null").fetchone() or ()
                )
                in_lake = connection.execute(
                    "select positions from lake_batches order by number desc limit 1"
                ).fetchone()
                (awaiting,) = connection.execute("select count(*) from assets where awaits_lake").fetchone() or ()
                (travelling,) = (
                    connection.execute(query("recompute/is_behind"), {"reaction": PROPAGATION}).fetchone() or ()
                )
            lanes = {place: end for place, end in log_ends(settings).items() if place[0] in topics.OF_LANE.values()}
            lake = offsets.lag_by_topic(lanes, _reached(*(in_lake or ({},))))
        except (psycopg.Error, KafkaException) as error:
            return f"the engines do not answer: {error}"
        if any(behind.values()) or any(lake.values()) or batches or awaiting:
            outbox = f"the outbox holds {batches} batches, {awaiting} assets await the lake"
            return f"the lag is {behind}, the lake's {lake}, {outbox}"
        if travelling:
            return "propagation is behind the change log"
        return ""

    def _last_words(self) -> str:
        logs = sorted((self.data_dir / "logs").glob("*.log"))
        return "\n".join(f"--- {log.name}\n{last_lines(log)}" for log in logs)


def _reached(positions: Mapping[str, Mapping[str, int]]) -> dict[tuple[str, int], int]:
    return {(topic, int(at)): offset for topic, found in positions.items() for at, offset in found.items()}


@contextmanager
def own_stack(*, parts: str = "", environment: Mapping[str, str] | None = None) -> Iterator[OwnStack]:
    """A running stack in a directory of its own; nothing of it is left afterwards."""
    place = Path(tempfile.mkdtemp(prefix="lily-faults-"))
    place.chmod(0o755)  # PostgreSQL may run as another user
    data_dir = place / "data"
    port = str(choose_ports(["api"], {})["api"])
    chosen = ("--parts", parts) if parts else ()
    try:
        told = command("up", "--detach", "--port", port, *chosen, data_dir=data_dir, environment=environment)
        assert told.returncode == 0, told.stdout + told.stderr
        answer = json.loads(told.stdout.splitlines()[-1])
        yield OwnStack(data_dir, answer["url"], answer["database"])
    finally:
        command("down", data_dir=data_dir)
        if os.environ.get("LILY_KEEP_TEST_DATA"):
            sys.stderr.write(f"kept {data_dir}\n")
        else:
            shutil.rmtree(place, ignore_errors=True)


def command(
    *words: str, data_dir: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "lily", *words, "--data-dir", str(data_dir), "--format", "json"]
    env = {**os.environ, **(environment or {})}
    return subprocess.run(argv, capture_output=True, text=True, timeout=240, check=False, env=env)
