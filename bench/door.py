"""Ingestion: events per second that Lily accepts over HTTP, each durably in the log before the response.

Bulk: one connection posts bodies of newline-delimited JSON, one after the other. Single: 32 connections, one event
per request. The pipeline applies the events at the same time, on the same cores. There is no goal; the figures are
reported.
"""

import random
import time

import httpx
import orjson

from bench.events import asset, statement
from bench.findings import BenchError, Finding, Outcome, Round, column
from bench.http_load import drive, request
from bench.run import Run
from bench.stack import BenchStack

CONNECTIONS = 32
BULK_ROWS = 10_000
PATH = "/ingest-metadata"


def measure(run: Run) -> Outcome:
    stack = run.filled(run.sizes.pool)
    rounds = [_round(run, stack) for _ in run.rounds()]
    findings = [
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
    return Outcome(findings, rounds, {"bulk_rows": BULK_ROWS, "connections": CONNECTIONS})


def _round(run: Run, stack: BenchStack) -> Round:
    stack.settle()
    run.say("bulk")
    rows = bulk(stack.url, stack.token, run.sizes.pool, run.sizes.http_seconds)
    stack.settle()
    run.say("single")
    headers = {"authorization": f"Bearer {stack.token}", "content-type": "application/json"}
    posts = [request("POST", PATH, headers, body) for body in bodies(run.sizes.pool, 5000)]
    single = drive(stack.url, posts, connections=CONNECTIONS, seconds=run.sizes.http_seconds)
    stack.settle()
    return {"bulk": rows, "single": single["per_second"], "single_p99": single["p99_ms"], "single_run": single}


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
