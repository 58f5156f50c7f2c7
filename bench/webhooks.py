"""Webhooks: how long a sender waits for its response at 500 a second, and how soon the incident is on the asset.

Each webhook is another incident on one of twenty tables, signed as the vendor's sample signs. They arrive at a steady
pace, whether or not earlier ones were answered, and count from when they were due. They have arrived at that pace for
more than a minute before it counts. Then, one at a time: from the request until the asset shows the incident, and until
a listener of the WebSocket has the alert.
"""

import hmac
import json
import time
from itertools import count
from typing import Any
from urllib.parse import urlencode

import httpx
from websockets.sync.client import ClientConnection, connect

from bench.events import TENANT
from bench.findings import Finding, Outcome, Round, at_most, column, percentile
from bench.http_load import drive_at, request
from bench.run import Run
from bench.stack import BenchStack, spent
from lily.incidents import incident_id

RATE = 500
CONNECTIONS = 32
TABLES = 20
SINGLE = 20  # incidents that are waited for, one at a time
SOURCE = "monte-carlo"
WARM_UP_SECONDS = 75  # of a stack that has just started: compiling the code of Kafka and Spark takes a core
PATIENCE = 60.0
SECRET = "the secret of the benchmark"  # noqa: S105 - of a stack that lives for minutes
PATH = f"/webhook/{SOURCE}?tenant={TENANT}"

_numbers = count()


def measure(run: Run) -> Outcome:
    stack = run.stack
    with httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {stack.token}"}, timeout=120) as http:
        http.put(f"/webhook-secrets/{SOURCE}", json={"secret": SECRET}).raise_for_status()
        rows = [_row(_table(number)) for number in range(TABLES)]
        http.post("/ingest-metadata/bulk", json=rows, headers={"Prefer": "wait=60"}).raise_for_status()
        warm_up = _webhooks(WARM_UP_SECONDS * RATE)
        drive_at(stack.url, warm_up, connections=CONNECTIONS, seconds=WARM_UP_SECONDS, rate=RATE)
        stack.settle_lake()
        rounds = [_round(run, stack, http) for _ in run.rounds()]
        http.delete(f"/webhook-secrets/{SOURCE}").raise_for_status()
    findings = [
        Finding(what=f"webhooks at {RATE}/s: p99", goal=at_most(20), unit="ms", values=column(rounds, "p99")),
        Finding(what=f"webhooks at {RATE}/s: p50", unit="ms", values=column(rounds, "p50")),
        Finding(what="the same: by how much the client itself was late, p99", unit="ms", values=column(rounds, "late")),
        Finding(what="the same: processors that the whole stack used", unit="cores", values=_used(rounds)),
        Finding(what="all of them merged after the last", unit="s", values=column(rounds, "merged")),
        Finding(what="sent to on the asset: p50", goal=at_most(1.5), unit="s", values=column(rounds, "visible")),
        Finding(what="sent to on the asset: slowest", unit="s", values=column(rounds, "slowest")),
        Finding(what="sent to on the WebSocket: p50", goal=at_most(1.5), unit="s", values=column(rounds, "alerted")),
        Finding(what="sent to on the WebSocket: slowest", unit="s", values=column(rounds, "slowest_alert")),
    ]
    return Outcome(findings, rounds, {"tables": TABLES, "rate": RATE})


def _round(run: Run, stack: BenchStack, http: httpx.Client) -> Round:
    run.say("webhooks at a steady rate")
    seconds = run.sizes.http_seconds * 2
    requests, before = _webhooks(int(seconds * RATE)), stack.cpu_seconds()
    steady = drive_at(stack.url, requests, connections=CONNECTIONS, seconds=seconds, rate=RATE)
    cores = spent(before, stack.cpu_seconds(), seconds)
    began = time.perf_counter()
    _shown(http, _sent(http))
    merged = time.perf_counter() - began
    run.say("one at a time")
    times = []
    for _ in range(SINGLE):
        began = time.perf_counter()
        _shown(http, _sent(http))
        times.append(time.perf_counter() - began)
    alerts = _alerts(stack, http)
    return {
        "p50": steady["p50_ms"],
        "p99": steady["p99_ms"],
        "late": steady["client_late_p99_ms"],
        "merged": merged,
        "visible": percentile(times, 50),
        "slowest": max(times),
        "alerted": percentile(alerts, 50),
        "slowest_alert": max(alerts),
        "run": steady,
        "cores": cores,
    }


def _used(rounds: list[Round]) -> list[float]:
    return [numbers["cores"]["all"] for numbers in rounds]


def _sent(http: httpx.Client) -> str:
    """The incident's id at its source."""
    message = _message()
    content, headers = _signed(message)
    http.post(PATH, content=content, headers=headers).raise_for_status()
    return str(message["payload"]["incident_id"])


def _shown(http: httpx.Client, incident: str) -> None:
    while True:
        found = http.get(f"/metadata/{_table(0)}/incidents", params={"limit": 1}).raise_for_status().json()["items"]
        if found and found[0]["external_id"] == incident:
            return


def _alerts(stack: BenchStack, http: httpx.Client) -> list[float]:
    """From the request to the alert, one at a time."""
    url = f"{stack.url.replace('http', 'ws', 1)}/ws/notifications?change=incident"
    times = []
    with connect(url, additional_headers={"Authorization": f"Bearer {stack.token}"}) as socket:
        for _ in range(SINGLE):
            began = time.perf_counter()
            _alerted(socket, incident_id(TENANT, SOURCE, _sent(http)))
            times.append(time.perf_counter() - began)
    return times


def _alerted(socket: ClientConnection, incident: str) -> None:
    """Raises TimeoutError if the alert does not come. Others may come before it."""
    while json.loads(socket.recv(PATIENCE)).get("incident_id") != incident:
        pass


def _webhooks(number: int) -> list[str]:
    bodies = [_signed(_message(position % TABLES)) for position in range(number)]
    return [request("POST", PATH, headers, content.decode()) for content, headers in bodies]


def _message(table: int = 0) -> dict[str, Any]:
    events = [{"table_name": _table(table).upper(), "event_details": "No rows for 12 hours"}]
    payload = {"incident_id": f"bench-{next(_numbers)}", "url": "https://example.org/i", "event_list": events}
    return {"account": {"id": "a"}, "type": "open_anomaly_incident", "version": "v0.1", "payload": payload}


def _signed(message: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    signature = hmac.new(SECRET.encode(), urlencode(message).encode(), "sha512").hexdigest()
    return json.dumps(message).encode(), {"x-mcd-signature": signature, "content-type": "application/json"}


def _row(name: str) -> dict[str, Any]:
    return {"entity_type": "table", "attributes": {"name": name, "qualified_name": name}}


def _table(number: int) -> str:
    return f"webhooks.public.t{number}"
