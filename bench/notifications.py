"""Notifications through the queue to a local target, and what a target that fails costs and whom it delays.

Incidents are announced in the outbox, as the reaction `incidents` does it, and go the whole way: relay, matching,
notifications and deliveries in PostgreSQL, jobs, signed webhooks to a receiver in a process of its own on the same
machine. The rate counts from the commit of the first to the arrival of the last. Nothing lost means: every
notification has arrived under its own id. For the outage, a steady rate goes to two destinations, of which one
responds 500 for a while: its calls against the calls that it would have had anyway, and how late the notifications of
the other arrive, against the same rate without an outage.
"""

import time
import uuid
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from bench.findings import BenchError, Finding, Outcome, Round, at_least, at_most, column, percentile, ratios
from bench.notification_target import Target, notification_target
from bench.run import Run
from bench.tenants import BenchTenant, tenant

AT_ONCE = 500  # announcements of one transaction
RATE = 50  # a second, while a target fails
CALM_SECONDS = 60.0
PATIENCE = 300.0
LOOK = 0.1
SECRET = "whsec_" + "c2VjcmV0" * 4
_INSERT = """
with batch as (insert into batches (topic) values (null) returning id)
insert into announcements (batch_id, tenant_id, event_id, body)
select batch.id, %s, body ->> 'root', body from batch, unnest(%s::jsonb[]) as body
returning position
"""


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    with notification_target() as target, tenant(run.stack, "notified") as made:
        _subscribe(made, target)
        _announce(made, 200)
        _wait(target, made, "plain", 200)  # once before it counts
        rounds = [_round(run, made, target, number) | _topic_round(run, made) for number in run.rounds()]
        outage = _outage(run, made, target, sizes.outage_seconds)
    return Outcome(_findings(rounds, outage), [*rounds, outage], {"notifications": sizes.notifications})


def _subscribe(made: BenchTenant, target: Target) -> None:
    """One destination for all of them, and two more for those with `steady` in their source's kind."""
    with made.client() as client:
        places = {name: f"{target.url}/{name}" for name in ("plain", "works", "fails")}
        config = {"destinations": places, "secrets": [SECRET], "connections": 16}
        client.post("/channels", json={"name": "hook", "type": "webhook", "config": config}).raise_for_status()
        client.post("/channels", json={"name": "topic", "type": "kafka", "config": {}}).raise_for_status()
        topic = {"name": "topic", "channel": "topic", "destination": "bench", "filters": {"severities": ["warning"]}}
        client.post("/subscriptions", json=topic).raise_for_status()
        for name, severity in (("plain", "critical"), ("works", "info"), ("fails", "info")):
            body = {"name": name, "channel": "hook", "destination": name, "filters": {"severities": [severity]}}
            client.post("/subscriptions", json=body).raise_for_status()


def _announce(made: BenchTenant, count: int, severity: str = "critical") -> float:
    """Returns when the first was committed."""
    began = 0.0
    with psycopg.connect(made.stack.database_url) as connection:
        for start in range(0, count, AT_ONCE):
            bodies = [Jsonb(_body(severity)) for _ in range(min(AT_ONCE, count - start))]
            connection.execute(_INSERT, [made.name, bodies])
            connection.execute("select pg_notify('lily_applied', '')")
            connection.commit()
            began = began or time.time()
    return began


def _body(severity: str) -> dict[str, Any]:
    incident = {
        "incident_id": str(uuid.uuid4()),
        "source": "bench",
        "external_id": "b",
        "severity": severity,
        "state": "open",
        "title": "The table is late",
        "url": "https://example.org/incident",
        "kind": "freshness",
        "previous_state": None,
    }
    return {"change": "incident", "root": incident["incident_id"], "incident": incident, "assets": []}


def _wait(target: Target, made: BenchTenant, path: str, wanted: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(target.arrived(path).ids) < wanted:
        if time.monotonic() > deadline:
            raise BenchError(f"{len(target.arrived(path).ids):,} of {wanted:,} notifications of {made.name} arrived")
        time.sleep(LOOK)


def _round(run: Run, made: BenchTenant, target: Target, number: int) -> Round:
    count = run.sizes.notifications
    run.say(f"{count:,} notifications")
    before = target.arrived("plain")
    began = _announce(made, count)
    _wait(target, made, "plain", len(before.ids) + count)
    after = target.arrived("plain")
    repeated = after.accepted - before.accepted - count
    return {"round": number, "rate": count / (after.last - began), "repeated": repeated, "lost": 0}


def _topic_round(run: Run, made: BenchTenant) -> Round:
    """To a topic of Lily's own Kafka: without the costs of HTTP. By the receipts, which commit once Kafka confirmed."""
    count = run.sizes.notifications
    run.say(f"{count:,} notifications to a topic")
    began = _announce(made, count, "warning")
    deadline = time.monotonic() + PATIENCE
    while (waiting := _receipts(made, began))[0] < count:
        if time.monotonic() > deadline:
            raise BenchError(f"{waiting[0]:,} of {count:,} notifications of {made.name} were delivered to a topic")
        time.sleep(LOOK)
    return {"topic_rate": count / (_receipts(made, began)[1] - began)}


def _receipts(made: BenchTenant, since: float) -> tuple[int, float]:
    """How many were delivered to the topic since a time, and when the last one was."""
    row = made.stack.database.execute(
        "select count(*), extract(epoch from max(delivered_at))::float8 from deliveries "
        "where tenant_id = %s and channel = 'topic' and delivered_at > to_timestamp(%s)",
        [made.name, since],
    ).fetchone()
    return (int(row[0]), float(row[1] or 0.0)) if row else (0, 0.0)


def _outage(run: Run, made: BenchTenant, target: Target, seconds: float) -> Round:
    run.say(f"{RATE} a second for {CALM_SECONDS:g} s")
    calm = _steady(made, target, min(seconds, CALM_SECONDS))
    run.say(f"the same while one of two targets fails for {seconds:g} s")
    calls = target.arrived("fails").calls
    target.fail("fails")
    failing = _steady(made, target, seconds)
    target.fail()
    _wait(target, made, "fails", len(target.arrived("works").ids))
    needed = RATE * seconds
    return {
        "calls": (target.arrived("fails").calls - calls) / needed,
        "calm_p99": percentile(calm, 99),
        "failing_p99": percentile(failing, 99),
    }


def _steady(made: BenchTenant, target: Target, seconds: float) -> list[float]:
    """Delays of the destination that works: one announcement after the other, each awaited in turn by its order."""
    began, sent = time.time(), list[float]()
    before = len(target.arrived("works").delays)
    while (due := began + len(sent) / RATE) < began + seconds:
        time.sleep(max(0.0, due - time.time()))
        sent.append(_announce(made, 1, "info"))
    _wait(target, made, "works", before + len(sent))
    arrived = target.arrived("works").delays[before:]
    return [later - earlier for earlier, later in zip(sent, arrived, strict=False)]


def _findings(rounds: list[Round], outage: Round) -> list[Finding]:
    return [
        Finding(what="webhooks delivered", goal=at_least(2_000), unit="/s", values=column(rounds, "rate")),
        Finding(what="delivered to a topic", goal=at_least(2_000), unit="/s", values=column(rounds, "topic_rate")),
        Finding(what="notifications lost", goal=at_most(0), unit="notifications", values=column(rounds, "lost")),
        Finding(what="calls of a target that failed", goal=at_most(2), against="without", values=[outage["calls"]]),
        Finding(what="p99 of another target meanwhile", unit="s", values=[outage["failing_p99"]]),
        Finding(
            what="p99 of another target meanwhile",
            against="without a failure",
            values=ratios([outage], "failing_p99", "calm_p99"),
        ),
    ]
