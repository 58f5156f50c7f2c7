"""POST /lineage/sql: a dbt project of 500 models, about 200 KB of compiled SQL, in one request.

First as a dry run, when the catalogue has none of the tables; then stored, when it has the source tables with their
columns. The last figures are those of another tenant, which sends a view of one line again and again: alone, and while
three scripts that take the analyzer seconds are in work for the first tenant.
"""

import statistics
import threading
import time
from typing import Any

import httpx
import orjson

from bench.findings import BenchError, Finding, Outcome, Round, at_most, column
from bench.run import Run
from bench.sql_models import COLUMNS, SOURCES, project, source
from bench.tenants import BenchTenant, tenant

GOAL_SECONDS = 10
SMALL = {"sql": "create view v as select a from t", "dialect": "postgres", "dry_run": True}
SLOW = {"sql": "create view v as select " + "+".join("a" * 60_000), "dialect": "postgres", "dry_run": True}
SMALL_REQUESTS = 50


def measure(run: Run) -> Outcome:
    models = run.sizes.sql_models
    sql = project(models)
    rounds = []
    for _ in run.rounds(run.sizes.lake_rounds):
        with tenant(run.stack, "sql") as made, tenant(run.stack, "sql-other") as other:
            rounds.append(_round(run, made, other, sql, models))
    return Outcome(_findings(rounds), rounds, {"models": models, "script_bytes": len(sql)})


def _round(run: Run, made: BenchTenant, other: BenchTenant, sql: str, models: int) -> Round:
    with made.client() as client, other.client() as second:
        run.say(f"{models} models, none of their tables known")
        unknown = _seconds(client, sql, models, dry_run=True)
        run.say(f"{models} models, sources known, stored")
        _ingest_sources(client, models)
        stored = _seconds(client, sql, models, dry_run=False)
        run.say("another tenant, alone and beside slow scripts")
        alone, beside = _small_ms(second), _beside_slow_ms(made, second)
    return {"unknown_s": unknown, "stored_s": stored, "small_ms": alone, "small_beside_slow_ms": beside}


def _seconds(client: httpx.Client, sql: str, models: int, *, dry_run: bool) -> float:
    began = time.perf_counter()
    answer = client.post("/lineage/sql", json={"sql": sql, "dialect": "snowflake", "dry_run": dry_run})
    took = time.perf_counter() - began
    found = answer.raise_for_status().json()
    if found["statements"] != models or found["not_understood"]:
        raise BenchError(f"{found['statements']} statements, {found['not_understood']} of them not understood")
    return took


def _ingest_sources(client: httpx.Client, models: int) -> None:
    rows: list[dict[str, Any]] = []
    for number in range(0, models, SOURCES):
        name = source(number)
        rows.append({"entity_type": "table", "attributes": {"name": name, "qualified_name": name}})
        for position, each in enumerate(COLUMNS, 1):
            about = {"name": each, "qualified_name": f"{name}.{each}", "parent": name, "ordinal_position": position}
            rows.append({"entity_type": "column", "attributes": about})
    headers = {"content-type": "application/json", "prefer": "wait=60"}
    client.post("/ingest-metadata/bulk", content=orjson.dumps(rows), headers=headers).raise_for_status()


def _small_ms(client: httpx.Client) -> float:
    """The median of the answers to a small script."""
    took = []
    for _ in range(SMALL_REQUESTS):
        began = time.perf_counter()
        client.post("/lineage/sql", json=SMALL).raise_for_status()
        took.append((time.perf_counter() - began) * 1e3)
    return statistics.median(took)


def _beside_slow_ms(made: BenchTenant, other: httpx.Client) -> float:
    def slow() -> None:
        with made.client() as client:
            client.post("/lineage/sql", json=SLOW)

    threads = [threading.Thread(target=slow) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        return _small_ms(other)
    finally:
        for thread in threads:
            thread.join()


def _findings(rounds: list[Round]) -> list[Finding]:
    goal = at_most(GOAL_SECONDS)
    return [
        Finding(
            what="500 dbt models in one request, nothing known", goal=goal, unit="s", values=column(rounds, "unknown_s")
        ),
        Finding(what="500 dbt models in one request, stored", goal=goal, unit="s", values=column(rounds, "stored_s")),
        Finding(what="a small script of another tenant", unit="ms", values=column(rounds, "small_ms")),
        Finding(
            what="a small script beside slow ones of another tenant",
            unit="ms",
            values=column(rounds, "small_beside_slow_ms"),
        ),
    ]
