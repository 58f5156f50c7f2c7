"""Point reads over HTTP, against the same row through a plain FastAPI service; and the latency of lists and searches.

32 keep-alive connections from a client process read random assets, alternately from Lily and from `plain_app.py`.
Both are one process, on the same PostgreSQL. Lily checks the token, the scope and the tenant of each request; the
plain service checks nothing.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from bench import plain_app
from bench.events import asset
from bench.findings import BenchError, Finding, Outcome, Round, at_least, column, ratios
from bench.http_load import drive, request
from bench.run import Run
from bench.stack import BenchStack
from lily.embedded.ports import choose_ports

CONNECTIONS = 32
FEW = 4  # people who browse
START_SECONDS = 30


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    with plain_service(stack) as plain:
        _require_same(stack, plain)
        _warm_up(stack, plain)
        rounds = [_round(run, stack, plain) for _ in run.rounds()]
    what, at = "point reads over HTTP", f"at {sizes.pool:,} assets"
    against = "plain FastAPI + uvicorn + a query each, no access check"
    findings = [
        Finding(what=what, against=against, goal=at_least(4), values=ratios(rounds, "lily", "plain")),
        Finding(what=what, unit="/s", values=column(rounds, "lily")),
        *(
            Finding(what=f"{kind} {at}, {FEW} connections: {part}", unit="ms", values=column(rounds, f"{kind}_{part}"))
            for kind in ("list", "search")
            for part in ("p50", "p99")
        ),
    ]
    return Outcome(findings, rounds, {"connections": CONNECTIONS, "assets": sizes.pool})


def _round(run: Run, stack: BenchStack, plain: str) -> Round:
    seconds, pool = run.sizes.http_seconds, run.sizes.pool
    headers = {"authorization": f"Bearer {stack.token}"}
    numbers = random.sample(range(pool), min(pool, 5000))
    reads = [request("GET", f"/metadata/{asset(number).id}", headers) for number in numbers]
    lists = [request("GET", f"/metadata?entity_type=table&limit=50&parent={asset(n).parent}", headers) for n in numbers]
    searches = [request("GET", f"/metadata?q={asset(number).name}&limit=50", headers) for number in numbers]
    run.say("Lily")
    lily = drive(stack.url, reads, connections=CONNECTIONS, seconds=seconds)
    run.say("the plain service")
    other = drive(plain, reads, connections=CONNECTIONS, seconds=seconds)
    found: Round = {"lily": lily["per_second"], "plain": other["per_second"], "lily_run": lily, "plain_run": other}
    for kind, requests in (("list", lists), ("search", searches)):
        run.say(kind)
        seen = drive(stack.url, requests, connections=FEW, seconds=seconds / 2)
        found |= {f"{kind}_p50": seen["p50_ms"], f"{kind}_p99": seen["p99_ms"], f"{kind}_run": seen}
    return found


def _warm_up(stack: BenchStack, plain: str) -> None:
    """A second each, so that pools are open and statements prepared on both sides."""
    read = request("GET", f"/metadata/{asset(0).id}", {"authorization": f"Bearer {stack.token}"})
    for url in (stack.url, plain):
        drive(url, [read], connections=CONNECTIONS, seconds=1)


@contextmanager
def plain_service(stack: BenchStack) -> Iterator[str]:
    """The address of the plain service, while it runs."""
    port = choose_ports(["plain"], {})["plain"]
    surroundings = os.environ | {plain_app.DATABASE: stack.database_url, plain_app.PORT: str(port)}
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen([sys.executable, "-m", "bench.plain_app"], env=surroundings) as service:
        try:
            _wait_for(url)
            yield url
        finally:
            service.terminate()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{url}/openapi.json")
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise BenchError(f"the plain service did not start within {START_SECONDS} seconds")


def _require_same(stack: BenchStack, plain: str) -> None:
    """Raises BenchError unless both answer the same asset, but for how they write a time."""
    path = f"/metadata/{asset(0).id}"
    ours = httpx.get(stack.url + path, headers={"authorization": f"Bearer {stack.token}"}).json()
    theirs = httpx.get(plain + path).json()
    times = ("created_at", "updated_at")
    if {k: v for k, v in ours.items() if k not in times} != {k: v for k, v in theirs.items() if k not in times}:
        raise BenchError(f"the plain service answers something else: {theirs} instead of {ours}")
