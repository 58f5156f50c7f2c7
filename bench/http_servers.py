"""HTTP servers side by side: uvicorn and granian, with one worker and with two, under the same application.

In each round every server in turn gets the same requests from the same client: point reads and single writes over 32
connections, then whole bulk bodies over one connection per worker. The pipeline stands still meanwhile, so that what is
measured is the server. Besides the rate, a round counts the processor time that the server's processes spent on one
request (in bulk: on one row), which other load on the machine distorts less. Point reads are also measured without the
fast read in front of the framework, and with the same read inside uvicorn's protocol.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import httpx
import psutil  # type: ignore[import-untyped]

from bench.api_server import CHOICE
from bench.door import PATH, bodies, bulk
from bench.events import asset
from bench.findings import BenchError, Finding, Outcome, Round, column, ratios
from bench.http_load import drive, request
from bench.run import Run
from bench.stack import BenchStack
from lily.embedded.bootstrap import url_for_role
from lily.embedded.kafka.users import USER_OF, brokers_environment, brokers_of
from lily.embedded.ports import choose_ports
from lily.embedded.state import load

CONNECTIONS = 32
START_SECONDS = 60
WARM_SECONDS = 1


@dataclass(frozen=True)
class Server:
    name: str
    server: str
    workers: int = 1
    reads: str = "fast"


SERVERS = (
    Server("uvicorn", "uvicorn"),
    Server("granian", "granian"),
    Server("uvicorn2", "uvicorn", workers=2),
    Server("granian2", "granian", workers=2),
)
READERS = (
    *SERVERS,
    Server("override", "uvicorn", reads="override"),
    Server("route", "uvicorn", reads="route"),
)
KINDS = ("read", "post", "bulk")


@dataclass(frozen=True)
class Running:
    server: Server
    url: str
    process: psutil.Process

    def cpu_seconds(self) -> float:
        tree = [self.process, *self.process.children(recursive=True)]
        return sum(sum(process.cpu_times()[:2]) for process in tree)

    def megabytes(self) -> float:
        """Memory that would be free without it: what its processes share is counted once."""
        tree = [self.process, *self.process.children(recursive=True)]
        return float(sum(process.memory_full_info().pss for process in tree)) / 1e6


def measure(run: Run) -> Outcome:
    stack = run.filled(run.sizes.pool)
    with ExitStack() as servers:
        running = {server.name: servers.enter_context(_running(stack, server)) for server in READERS}
        for one in running.values():
            _reads(one, stack, run.sizes.pool, WARM_SECONDS)
        rounds = [_round(run, stack, running) for _ in run.rounds()]
    return Outcome(_findings(rounds), rounds, {"connections": CONNECTIONS, "assets": run.sizes.pool})


def _round(run: Run, stack: BenchStack, running: dict[str, Running]) -> Round:
    """The order turns from round to round: the first to write finds the emptiest disk cache."""
    found: Round = {}
    order = random.sample(sorted(running), len(running))
    writers = [running[name] for name in order if name in {server.name for server in SERVERS}]
    seconds, pool = run.sizes.http_seconds / 2, run.sizes.pool
    with stack.paused_pipeline():
        for name in order:
            run.say(f"reads, {name}")
            found |= _measured(running[name], "read", lambda one: _reads(one, stack, pool, seconds))
        for one in writers:
            run.say(f"writes, {one.server.name}")
            found |= _measured(one, "post", lambda one: _posts(one, stack, pool, seconds))
    stack.settle()
    for one in writers:
        run.say(f"bulk, {one.server.name}")
        with stack.paused_pipeline():
            found |= _measured(one, "bulk", lambda one: _bulks(one, stack, pool, seconds))
        stack.settle()
    return found | {f"{name}_mb": one.megabytes() for name, one in running.items()}


def _measured(one: Running, kind: str, load_it: Callable[[Running], tuple[float, float, float]]) -> Round:
    """Rate, processor time of one request in microseconds, and p99 in milliseconds where there is one."""
    before = one.cpu_seconds()
    done, per_second, p99 = load_it(one)
    cpu = (one.cpu_seconds() - before) / done * 1e6
    name = f"{one.server.name}_{kind}"
    return {f"{name}_rate": per_second, f"{name}_cpu": cpu, f"{name}_p99": p99}


def _reads(one: Running, stack: BenchStack, pool: int, seconds: float) -> tuple[float, float, float]:
    headers = {"authorization": f"Bearer {stack.token}"}
    numbers = random.sample(range(pool), min(pool, 5000))
    reads = [request("GET", f"/metadata/{asset(number).id}", headers) for number in numbers]
    seen = drive(one.url, reads, connections=CONNECTIONS, seconds=seconds)
    return seen["requests"], seen["per_second"], seen["p99_ms"]


def _posts(one: Running, stack: BenchStack, pool: int, seconds: float) -> tuple[float, float, float]:
    headers = {"authorization": f"Bearer {stack.token}", "content-type": "application/json"}
    posts = [request("POST", PATH, headers, body) for body in bodies(pool, 5000)]
    seen = drive(one.url, posts, connections=CONNECTIONS, seconds=seconds)
    return seen["requests"], seen["per_second"], seen["p99_ms"]


def _bulks(one: Running, stack: BenchStack, pool: int, seconds: float) -> tuple[float, float, float]:
    """As many clients as there are workers; which worker a client meets is up to the kernel."""
    rates: list[float] = []
    clients = [
        threading.Thread(target=lambda: rates.append(bulk(one.url, stack.token, pool, seconds)))
        for _ in range(one.server.workers)
    ]
    began = time.perf_counter()
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if len(rates) < len(clients):
        raise BenchError(f"a bulk client of {one.server.name} failed")
    rate = sum(rates)
    return rate * (time.perf_counter() - began), rate, 0.0


def _findings(rounds: list[Round]) -> list[Finding]:
    names = {"read": "point reads", "post": "POST /ingest-metadata", "bulk": "POST /ingest-metadata/bulk, rows"}
    found: list[Finding] = []
    for kind in KINDS:
        for suffix, workers in (("", "1 worker"), ("2", "2 workers")):
            what, against = f"{names[kind]}: granian, {workers}", f"uvicorn, {workers}"
            found += _compared(rounds, what, against, f"granian{suffix}_{kind}", f"uvicorn{suffix}_{kind}")
        what = f"{names[kind]}: uvicorn, 2 workers"
        found += _compared(rounds, what, "uvicorn, 1 worker", f"uvicorn2_{kind}", f"uvicorn_{kind}")
        found.append(Finding(what=f"{names[kind]}: uvicorn", unit="/s", values=column(rounds, f"uvicorn_{kind}_rate")))
    what = "point reads inside uvicorn's protocol"
    found += _compared(rounds, what, "in front of the framework", "override_read", "uvicorn_read")
    what = "point reads in front of the framework"
    found += _compared(rounds, what, "through the route", "uvicorn_read", "route_read")
    for server in SERVERS:
        found.append(
            Finding(what=f"memory (PSS): {server.name}", unit="MB", values=column(rounds, f"{server.name}_mb"))
        )
    return found


def _compared(rounds: list[Round], what: str, against: str, one: str, other: str) -> list[Finding]:
    return [
        Finding(what=what, against=against, values=ratios(rounds, f"{one}_rate", f"{other}_rate")),
        Finding(what=f"{what}: processor time", against=against, values=ratios(rounds, f"{one}_cpu", f"{other}_cpu")),
    ]


@contextmanager
def _running(stack: BenchStack, server: Server) -> Iterator[Running]:
    port = choose_ports([server.name], {})[server.name]
    role = url_for_role(stack.database_url, "lily_api", load(stack.data_dir).passwords["lily_api"])
    surroundings = os.environ | {
        "LILY_DATA_DIR": str(stack.data_dir),
        **brokers_environment(brokers_of(load(stack.data_dir), USER_OF["api"])),
        "LILY_DATABASE_URL": role,
        "LILY_PORT": str(port),
        CHOICE: json.dumps({"server": server.server, "workers": str(server.workers), "reads": server.reads}),
    }
    url, command = f"http://127.0.0.1:{port}", [sys.executable, "-m", "bench.api_server"]
    with subprocess.Popen(command, env=surroundings, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(process, url, server.name)
            yield Running(server, url, psutil.Process(process.pid))
        finally:
            process.send_signal(signal.SIGTERM)


def _wait_for(process: "subprocess.Popen[bytes]", url: str, name: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/health/ready", timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise BenchError(f"{name} did not start within {START_SECONDS} seconds")
