"""Ingestion: events per second that Lily accepts over HTTP, each durably in the log before the response.

New tables: one client posts a body of newline-delimited JSON with 100,000 tables of a new tenant. The clock runs from
the first byte until all of them can be read, and a round counts only if they can; the lake stores them meanwhile or
afterwards, as it comes. Bulk: one connection posts bodies about known assets, one after the other. Single: 32
connections, one event per request. The pipeline applies the events at the same time, on the same cores. The latter two
have no goal; the figures are reported.
"""

import random
import time

import httpx
import orjson

from bench.events import asset, statement
from bench.findings import BenchError, Finding, Outcome, Round, at_least, column
from bench.http_load import drive, request
from bench.run import Run
from bench.stack import BenchStack
from bench.tenants import BenchTenant, tenant

CONNECTIONS = 32
BULK_ROWS = 10_000
PATH = "/ingest-metadata"
PATIENCE = 300.0


def measure(run: Run) -> Outcome:
    stack = run.filled(run.sizes.pool)
    rounds = [_round(run, stack) for _ in run.rounds()]
    tables, what = run.sizes.new_tables, "new tables over POST /ingest-metadata/bulk"
    findings = [
        Finding(
            what=f"{tables:,} {what}, one client, until readable",
            goal=at_least(12_000),
            unit="/s",
            values=column(rounds, "new_tables"),
        ),
        Finding(what="the same: accepted", unit="/s", values=column(rounds, "new_tables_accepted")),
        Finding(
            what="accepted over POST /ingest-metadata/bulk, NDJSON", unit="events/s", values=column(rounds, "bulk")
        ),
        Finding(
            what=f"accepted over POST /ingest-metadata, {CONNECTIONS} connections",
            unit="events/s",
            values=column(rounds, "single"),
        ),
        Finding(what="the same: p99 of an answer", unit="ms", values=column(rounds, "single_p99")),
    ]
    return Outcome(findings, rounds, {"new_tables": tables, "bulk_rows": BULK_ROWS, "connections": CONNECTIONS})


def _round(run: Run, stack: BenchStack) -> Round:
    stack.settle_lake()
    with tenant(stack, "door") as made:
        run.say(f"{run.sizes.new_tables:,} new tables")
        new = _new_tables(made, run.sizes.new_tables)
    run.say("bulk")
    rows = bulk(stack.url, stack.token, run.sizes.pool, run.sizes.http_seconds)
    stack.settle()
    run.say("single")
    headers = {"authorization": f"Bearer {stack.token}", "content-type": "application/json"}
    posts = [request("POST", PATH, headers, body) for body in bodies(run.sizes.pool, 5000)]
    single = drive(stack.url, posts, connections=CONNECTIONS, seconds=run.sizes.http_seconds)
    stack.settle()
    return new | {"bulk": rows, "single": single["per_second"], "single_p99": single["p99_ms"], "single_run": single}


def _new_tables(made: BenchTenant, count: int) -> Round:
    body = "\n".join(orjson.dumps(statement(asset(number), number)).decode() for number in range(count)).encode()
    headers = made.headers | {"content-type": "application/x-ndjson"}
    with httpx.Client(base_url=made.stack.url, headers=headers, timeout=PATIENCE) as client:
        began = time.time()
        answer = client.post(f"{PATH}/bulk", content=body)
        accepted = time.time()
    if not answer.is_success or answer.json()["accepted"] != count:
        raise BenchError(f"the bulk door answered {answer.status_code}: {answer.text[:500]}")
    readable = made.stack.wait_applied(made.stack.ends())
    row = made.stack.database.execute("select count(*) from assets where tenant_id = %s", [made.name]).fetchone()
    if row != (count,):
        raise BenchError(f"{row} of {count} tables can be read")
    return {"new_tables": count / (readable - began), "new_tables_accepted": count / (accepted - began)}


def bodies(pool: int, count: int) -> list[str]:
    serial = time.time_ns()
    return [orjson.dumps(statement(asset(random.randrange(pool)), serial + n)).decode() for n in range(count)]


def bulk(url: str, token: str, pool: int, seconds: float) -> float:
    """Rows per second over whole bodies, until the time is over."""
    body = "\n".join(bodies(pool, BULK_ROWS)).encode()
    headers = {"authorization": f"Bearer {token}", "content-type": "application/x-ndjson"}
    accepted, began = 0, time.perf_counter()
    with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
        while time.perf_counter() < began + seconds:
            answer = client.post(f"{PATH}/bulk", content=body)
            if not answer.is_success or answer.json()["rejected"]:
                raise BenchError(f"the bulk door answered {answer.status_code}: {answer.text[:500]}")
            accepted += answer.json()["accepted"]
    return accepted / (time.perf_counter() - began)
