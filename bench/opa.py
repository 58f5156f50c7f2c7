"""What Trino's OPA plug-in waits for: the masks of a table with 1,000 columns in one request, at 200 requests a second;
and how soon a tag that a person puts on a column masks columns downstream of it.

All columns are in the catalogue, each with a tag; one in ten is personal and masked. Twenty users read four tables.
Requests arrive at a steady pace, whether or not earlier ones were answered, and count from when they were due: once
while nothing else happens, and once while other assets of the tenant are ingested. Beside them, one at a time, the same
request for one table: repeated, after a transaction that changed nothing of the table, after a change of the table, and
as checks of `POST /policy/check`, which reads facts for every request. Then what Trino sends without batches: a request
for each of 250 columns, at once.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, pairwise
from typing import Any

import httpx

from bench.events import TENANT
from bench.findings import Finding, Outcome, Round, at_most, column, percentile, ratios
from bench.http_load import drive, drive_at, request, send_all
from bench.run import Run
from bench.stack import BenchStack
from lily.store.postgres.access.administration import create_token

RATE = 200
CONNECTIONS = 16
TABLES = 4
COLUMNS = 1_000
READERS = [f"opa-reader-{number}" for number in range(20)]
CHAIN = 20  # tables between the column that is tagged and the last one downstream
FAN = 100  # tables beside the last one
SOURCE = "opa.src.t.mail"
INGESTED = 20  # assets per second, while
SINGLE = 250  # columns in as many requests
WARM_UP = 20  # seconds
JSON = {"content-type": "application/json"}
WAIT = {"Prefer": "wait=60"}


def measure(run: Run) -> Outcome:
    stack = run.stack
    key = create_token(stack.database_url, TENANT, ["enforce:read"], user="bench-trino")
    with httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {stack.token}"}, timeout=120) as http:
        run.say(f"{TABLES} tables of {COLUMNS:,} columns, {CHAIN + FAN} tables downstream")
        _fill(http)
        masks = [_masks(key, user, table) for user in READERS for table in range(TABLES)]
        # Arranges the policies of each reader, until the lake has taken in the columns as well.
        drive_at(stack.url, masks, connections=CONNECTIONS, seconds=WARM_UP, rate=RATE)
        rounds = [_round(run, stack, http, key, masks) for _ in run.rounds()]
        _remove(http)
    what = f"masks of {COLUMNS:,} columns at {RATE}/s"
    findings = [
        Finding(what=f"{what}: p99", goal=at_most(10), unit="ms", values=column(rounds, "p99")),
        Finding(what=f"{what}: p50", unit="ms", values=column(rounds, "p50")),
        Finding(what="transactions that wrote meanwhile", unit="/s", values=column(rounds, "commits")),
        Finding(what=f"{what} while {INGESTED} assets/s are ingested: p99", unit="ms", values=column(rounds, "busy")),
        Finding(
            what="the same, one at a time: p50",
            against=f"POST /policy/check of the same {COLUMNS:,} questions",
            goal=at_most(0.2),
            values=ratios(rounds, "alone", "checks"),
        ),
        Finding(what="the same after a change of anything else: p50", unit="ms", values=column(rounds, "others")),
        Finding(what="the same after a change of the table: p50", unit="ms", values=column(rounds, "changed")),
        Finding(what=f"{SINGLE} requests of a column each, all answered", unit="ms", values=column(rounds, "singles")),
        Finding(
            what=f"PUT of a tag to {CHAIN + FAN} tables downstream masked",
            goal=at_most(1.5),
            unit="s",
            values=column(rounds, "tagged"),
        ),
    ]
    return Outcome(findings, rounds, {"tables": TABLES, "columns": COLUMNS, "downstream": CHAIN + FAN})


def _round(run: Run, stack: BenchStack, http: httpx.Client, key: str, masks: list[str]) -> Round:
    run.say("masks at a steady rate")
    before, began = _transactions(stack), time.perf_counter()
    steady = drive_at(stack.url, masks, connections=CONNECTIONS, seconds=run.sizes.http_seconds * 2, rate=RATE)
    commits = (_transactions(stack) - before) / (time.perf_counter() - began)
    with _ingesting(http):
        busy = drive_at(stack.url, masks, connections=CONNECTIONS, seconds=run.sizes.http_seconds, rate=RATE)
    run.say("one at a time")
    alone = drive(stack.url, masks[:1], connections=1, seconds=run.sizes.http_seconds / 2)
    headers = {"authorization": f"Bearer {stack.token}", **JSON}
    checks = [request("POST", "/policy/check", headers, json.dumps({"checks": _checks()}))]
    seen = drive(stack.url, checks, connections=1, seconds=run.sizes.http_seconds / 2)
    run.say("after changes")
    others = _after(http, key, lambda: _commit(stack))
    changed = _after(http, key, lambda: _describe(http))
    singles = send_all(stack.url, [_single(key, number) for number in range(SINGLE)], connections=64, seconds=60)
    run.say("a tag")
    return {
        "p50": steady["p50_ms"],
        "p99": steady["p99_ms"],
        "commits": commits,
        "alone": alone["p50_ms"],
        "checks": seen["p50_ms"],
        "others": others,
        "changed": changed,
        "busy": busy["p99_ms"],
        "singles": singles["requests"] / singles["per_second"] * 1000,
        "tagged": _tagged(http, key),
        "run": steady,
    }


def _transactions(stack: BenchStack) -> int:
    """How many transactions have written anything so far."""
    row = stack.database.execute("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint").fetchone()
    return int(row[0]) if row else 0


def _fill(http: httpx.Client) -> None:
    rows = [_row("opa", "database"), _row("opa.wide", "schema", "opa"), _row("opa.src", "schema", "opa")]
    for table in (_table(number) for number in range(TABLES)):
        rows.append(_row(table, "table", "opa.wide"))
        tags = [["PII"] if number % 10 == 0 else ["Reviewed"] for number in range(COLUMNS)]
        rows += [_row(f"{table}.c{number}", "column", table, tags=tags[number]) for number in range(COLUMNS)]
    downstream = [SOURCE.rpartition(".")[0], *(f"opa.src.d{number}" for number in range(CHAIN + FAN))]
    rows += [_row(table, "table", "opa.src") for table in downstream]
    http.post("/ingest-metadata/bulk", json=rows, headers=WAIT).raise_for_status()
    http.post("/ingest-metadata", json=_row(SOURCE, "column", "opa.src.t"), headers=WAIT).raise_for_status()
    names = [SOURCE, *(f"opa.src.d{number}.mail" for number in range(CHAIN + FAN))]
    pairs = [*pairwise(names[: CHAIN + 1]), *((names[CHAIN], name) for name in names[CHAIN + 1 :])]
    edges = [{"from": start, "to": end, "relationship_type": "derived-from"} for start, end in pairs]
    http.post("/lineage", json={"edges": edges}, headers=WAIT).raise_for_status()
    reads = {"actions": ["READ"], "subjects": [{"user": user} for user in READERS]}
    allow = {"id": "opa-allow", "name": "Reads", "resources": [{"asset": "opa"}], "effect": "allow", **reads}
    mask = {"id": "opa-mask", "name": "Masks", "resources": [{"tag": "PII"}], "effect": "mask", "mask": "show-last-4"}
    for policy in (allow, mask | reads):
        http.post("/policies", json=policy).raise_for_status()


def _remove(http: httpx.Client) -> None:
    for policy in ("opa-allow", "opa-mask"):
        http.delete(f"/policies/{policy}").raise_for_status()


def _table(number: int) -> str:
    return f"opa.wide.t{number}"


def _row(name: str, kind: str, parent: str = "", **more: Any) -> dict[str, Any]:
    above = {"parent": parent} if parent else {}
    attributes = {"name": name.rpartition(".")[2], "qualified_name": name, **above, **more}
    return {"entity_type": kind, "attributes": attributes}


def _body(user: str, table: str, columns: list[str]) -> str:
    catalog, schema, name = table.split(".")
    place = {"catalogName": catalog, "schemaName": schema, "tableName": name}
    listed = [{"column": place | {"columnName": one, "columnType": "varchar"}} for one in columns]
    context = {"identity": {"user": user, "groups": ["analysts"]}, "softwareStack": {"trinoVersion": "476"}}
    return json.dumps(
        {"input": {"context": context, "action": {"operation": "GetColumnMask", "filterResources": listed}}}
    )


def _path(key: str) -> str:
    return f"/enforce/opa/k/{key}/batch-column-masking"


def _masks(key: str, user: str, number: int) -> str:
    columns = [f"c{number}" for number in range(COLUMNS)]
    return request("POST", _path(key), JSON, _body(user, _table(number), columns))


def _checks() -> list[dict[str, str]]:
    columns = [f"{_table(0)}.c{number}" for number in range(COLUMNS)]
    return [{"principal": READERS[0], "action": "READ", "asset_id": name} for name in columns]


_numbers = count()


@contextmanager
def _ingesting(http: httpx.Client) -> Iterator[None]:
    """So many assets per second, one request each, in a thread."""
    ended = threading.Event()

    def ingest() -> None:
        while not ended.wait(1 / INGESTED):
            row = _row(f"opa.src.n{next(_numbers)}", "table", "opa.src")
            http.post("/ingest-metadata", json=row).raise_for_status()

    thread = threading.Thread(target=ingest)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _after(http: httpx.Client, key: str, change: Callable[[], None]) -> float:
    """Milliseconds of a request that is the next after a change."""
    body = _body(READERS[0], _table(0), [f"c{number}" for number in range(COLUMNS)])
    times = []
    for _ in range(20):
        change()
        began = time.perf_counter()
        http.post(_path(key), content=body, headers=JSON).raise_for_status()
        times.append(time.perf_counter() - began)
    return percentile(times, 50) * 1000


def _commit(stack: BenchStack) -> None:
    stack.database.execute("create temporary table changed ()").connection.execute("drop table changed")


def _describe(http: httpx.Client) -> None:
    body = {"attributes": {"description": f"state {next(_numbers)}"}}
    http.put(f"/metadata/{_table(0)}", json=body, headers=WAIT).raise_for_status()


def _single(key: str, number: int) -> str:
    listed = json.loads(_body(READERS[0], _table(0), [f"c{number}"]))
    listed["input"]["action"]["resource"] = listed["input"]["action"].pop("filterResources")[0]
    return request("POST", _path(key).replace("batch-column", "column"), JSON, json.dumps(listed))


def _tagged(http: httpx.Client, key: str) -> float:
    """From the request that tags a column until the last of the tables downstream is masked."""
    bodies = [_body(READERS[0], f"opa.src.d{number}", ["mail"]) for number in (CHAIN - 1, CHAIN + FAN - 1)]
    began = time.perf_counter()
    http.put(f"/metadata/{SOURCE}", json={"attributes": {"tags": ["PII"]}}).raise_for_status()
    for body in bodies:
        while not http.post(_path(key), content=body, headers=JSON).json()["result"]:
            time.sleep(0.002)
    seconds = time.perf_counter() - began
    http.put(f"/metadata/{SOURCE}", json={"attributes": {"tags": []}}, headers=WAIT).raise_for_status()
    return seconds
