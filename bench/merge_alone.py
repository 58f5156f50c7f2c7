"""Processor time per event of PostgreSQL and of the relay for plain events: `python -m bench.merge_alone [ROUNDS]`.

A PostgreSQL of its own, and in one process what the hot task and the relay do, without Spark and Kafka. PostgreSQL's
time is that of the two backends, as the scheduler counts it. Rounds alternate between events that change an asset, a
source that is read again and states the same, and one of which 5 % has changed in between.
"""

import json
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import Popen

import psycopg

from bench.events import TENANT, Asset, Payloads, asset, sample
from bench.findings import BenchError
from bench.task_alone import as_arrow
from lily.bus.authority import Verifier
from lily.embedded.bootstrap import url_for_role
from lily.embedded.ports import choose_ports
from lily.embedded.postgres import Postgres
from lily.embedded.process import spawn
from lily.model.envelopes import FUTURE_SKEW
from lily.pipeline.arrow_records import read_records
from lily.pipeline.hot.task import _apply
from lily.reactions.relay.routing import outgoing
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.migrations import migrate
from lily.store.postgres.outbox.batches import Outbox

POOL, EVENTS, ROUNDS = 60_000, 2_500, 24  # EVENTS: about what a partition of a micro-batch has at 10,000 events/s
LOADS = {"changed": 1.0, "unchanged": 0.0, "5 % changed": 0.05}
PASSWORDS = {"lily_api": "api-password", "lily_pipeline": "pipeline-password"}
START_SECONDS = 60.0
Costs = dict[str, float]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with server() as url:
        migrate(url, PASSWORDS)
        create_tenant(url, TENANT)
        pipeline = url_for_role(url, "lily_pipeline", PASSWORDS["lily_pipeline"])
        with (
            psycopg.connect(url, autocommit=True) as control,
            closing(CatalogueWriter(pipeline)) as writer,
            closing(Outbox(pipeline)) as outbox,
        ):
            for name, costs in measured(Measured(control, writer, outbox), rounds).items():
                print(json.dumps({"events": name, **summary(costs)}))


def measured(lane: "Measured", rounds: int) -> dict[str, list[Costs]]:
    lane.fill()
    found: dict[str, list[Costs]] = defaultdict(list)
    for number in range(rounds):
        for name, changed in LOADS.items():
            found[name].append(lane.round(number, changed))
    return found


class Measured:
    """The hot task and the relay, one after the other."""

    def __init__(self, control: psycopg.Connection, writer: CatalogueWriter, outbox: Outbox) -> None:
        self._control, self._writer, self._outbox = control, writer, outbox
        self._applying, self._reading = (backend_of(control, name) for name in ("lily-pipeline", "lily-relay"))
        self._offset = 0

    def fill(self) -> None:
        for changed in (1.0, 0.0):
            for start in range(0, POOL, EVENTS):
                self._apply([asset(number) for number in range(start, start + EVENTS)], changed)
        self._publish()
        self._control.execute("vacuum analyze")

    def round(self, number: int, changed: float) -> Costs:
        """In µs per event, and bytes of the write-ahead log."""
        given = sample(POOL, EVENTS, seed=number)
        if changed < 1:  # so that what is stated again changes nothing
            self._apply(given, 0.0)
            self._publish()
        log, began = self._log(), self._seconds()
        self._apply(given, changed)
        applied, written = self._seconds(), self._log() - log
        self._publish()
        published = self._seconds()
        task, applying, _ = (1e6 * (after - before) / EVENTS for before, after in zip(began, applied, strict=True))
        relay, _, reading = (1e6 * (after - before) / EVENTS for before, after in zip(applied, published, strict=True))
        return {
            "task": task,
            "relay": relay,
            "postgres, applying": applying,
            "postgres, relay": reading,
            "bytes of the log": written / EVENTS,
        }

    def _apply(self, assets: list[Asset], changed: float) -> None:
        batch = as_arrow(list(Payloads(assets, changed=changed).take(len(assets))))
        records = [record._replace(offset=self._offset + at) for at, record in enumerate(read_records(batch))]
        counts = _apply(records, FUTURE_SKEW, Verifier(()), self._writer)
        if counts.merged != len(assets):
            raise BenchError(f"of {len(assets)} events {counts.merged} were merged")
        self._offset += len(assets)

    def _publish(self) -> None:
        while batches := self._outbox.unpublished(4):
            for _ in outgoing(self._outbox, batches):
                pass
            self._outbox.mark_published(batches, {})

    def _seconds(self) -> tuple[float, float, float]:
        return time.process_time(), seconds_of(self._applying), seconds_of(self._reading)

    def _log(self) -> int:
        ((position,),) = self._control.execute("select pg_current_wal_insert_lsn() - '0/0'").fetchall()
        return int(position)


def backend_of(control: psycopg.Connection, name: str) -> int:
    ((pid,),) = control.execute("select pid from pg_stat_activity where application_name = %s", [name]).fetchall()
    return int(pid)


def seconds_of(pid: int) -> float:
    """A process with one thread, to the nanosecond."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def summary(costs: list[Costs]) -> dict[str, list[float]]:
    """The smallest, and the median."""
    columns = {name: [one[name] for one in costs] for name in costs[0]}
    return {name: [round(min(values), 2), round(statistics.median(values), 2)] for name, values in columns.items()}


@contextmanager
def server() -> Iterator[str]:
    directory = Path(tempfile.mkdtemp(prefix="lily-postgres-"))
    directory.chmod(0o755)  # as root it runs under another account, which has to reach its files
    part = Postgres(directory, choose_ports(["postgres"], {})["postgres"], "bench")
    part.prepare()
    process = spawn(part.command(), directory / "logs" / "postgres.log")
    try:
        wait_until_healthy(part, process)
        yield part.url
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: what an orderly stop would write is thrown away
        process.wait(timeout=part.grace)
        shutil.rmtree(directory)


def wait_until_healthy(part: Postgres, process: Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not part.healthy():
        if process.poll() is not None or time.monotonic() > deadline:
            raise BenchError("PostgreSQL did not start")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
