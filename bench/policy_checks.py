"""`POST /policy/check` over HTTP in batches, in a tenant with 10,000 policies and 100,000 users; and how soon a change
of policies takes effect.

Two connections send batches of 10,000 checks: 500 users, drawn from all, and 1,000 assets of the catalogue per batch.
Facts of assets are read from PostgreSQL for every batch, nothing of them is kept. Before each round all policies are
touched, so that the first check reads and compiles all of them again. Policies and users are written into the store
directly; the changes whose effect is measured go through the API.
"""

import json
import random
import time
from typing import Any

import httpx

from bench.events import TENANT, asset
from bench.findings import Finding, Outcome, Round, at_least, at_most, column
from bench.http_load import drive, request
from bench.policy_world import Scale, policy_world
from bench.run import Run
from bench.stack import BenchStack
from lily.policy import fold

CONNECTIONS = 2
BATCH = 10_000
ASSETS_PER_BATCH = 1_000
PRINCIPALS = 500
BATCHES = 6


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    run.say(f"{sizes.many_policies:,} policies and {sizes.many_users:,} users")
    users = _store(stack, sizes.many_policies, sizes.many_users)
    choose = random.Random(3)
    people = choose.sample(users, min(PRINCIPALS, len(users)))
    try:
        with httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {stack.token}"}, timeout=120) as http:
            rounds = [_round(run, stack, http, people) for _ in run.rounds()]
    finally:
        _clear(stack)
        _reload(stack)
    findings = [
        Finding(
            what="checks over HTTP, batches of 10,000", goal=at_least(50_000), unit="/s", values=column(rounds, "rate")
        ),
        Finding(what="the same: p99 of a batch", unit="ms", values=column(rounds, "p99")),
        Finding(
            what="first check, all policies read and compiled", goal=at_most(2), unit="s", values=column(rounds, "all")
        ),
        Finding(what="a change of one policy to its effect", goal=at_most(1), unit="s", values=column(rounds, "one")),
        Finding(what="a change of one user to its effect", goal=at_most(1), unit="s", values=column(rounds, "user")),
    ]
    return Outcome(findings, rounds, {"policies": sizes.many_policies, "users": sizes.many_users, "assets": sizes.pool})


def _store(stack: BenchStack, policies: int, users: int) -> list[str]:
    """Fills the tenant; returns the names of its users."""
    world = policy_world(2, Scale(policies, 0, users=users, roles=200, groups=200, tables=500))
    _clear(stack)
    with stack.database.cursor() as cursor:
        bodies: dict[str, list[tuple[str, dict[str, Any]]]] = {
            "policies": [(fold(one.id), {"id": one.id, **one.as_dict()}) for one in world.policies],
            "roles": [(fold(one.name), one.as_dict()) for one in world.roles],
            "users": [(fold(one.name), one.as_dict()) for one in world.users],
        }
        for table, rows in bodies.items():
            with cursor.copy(f"copy {table} (tenant_id, key, body, version) from stdin") as copy:
                for key, body in rows:
                    copy.write_row((TENANT, key, json.dumps(body), 1))
            cursor.execute(f"vacuum analyze {table}")
    _reload(stack)
    return [user.name for user in world.users]


def _clear(stack: BenchStack) -> None:
    """What is left would decide about the writes of other measurements."""
    for table in ("policies", "roles", "users"):
        stack.database.execute(f"delete from {table} where tenant_id = %s".encode(), [TENANT])  # noqa: S608


def _reload(stack: BenchStack) -> None:
    """Makes every process read and compile all policies again."""
    stack.database.execute(
        "with bumped as (update access_versions set version = version + 1, compiled = version + 1 "
        "where tenant_id = %s returning version) "
        "update policies set version = bumped.version from bumped where tenant_id = %s",
        [TENANT, TENANT],
    )
    stack.database.execute("select pg_notify('lily_policies', '')")
    time.sleep(1)


def _round(run: Run, stack: BenchStack, http: httpx.Client, people: list[str]) -> Round:
    run.say("all policies changed")
    _reload(stack)
    everything = _seconds(http, [_check(people[0], 0)])
    bodies = [_batch(people, run.sizes.pool) for _ in range(BATCHES)]
    for body in bodies:  # arranges the policies of each principal
        http.post("/policy/check", content=body, headers={"content-type": "application/json"}).raise_for_status()
    run.say("checks over HTTP")
    headers = {"authorization": f"Bearer {stack.token}", "content-type": "application/json"}
    requests = [request("POST", "/policy/check", headers, body) for body in bodies]
    seen = drive(stack.url, requests, connections=CONNECTIONS, seconds=run.sizes.http_seconds)
    run.say("changes")
    return {
        "rate": seen["per_second"] * BATCH,
        "p99": seen["p99_ms"],
        "all": everything,
        "one": _policy_change(http),
        "user": _user_change(http),
        "run": seen,
    }


def _batch(people: list[str], pool: int) -> str:
    numbers = random.sample(range(pool), min(ASSETS_PER_BATCH, pool))
    return json.dumps({"checks": [_check(random.choice(people), random.choice(numbers)) for _ in range(BATCH)]})


def _check(user: str, number: int) -> dict[str, str]:
    return {"principal": user, "action": "READ", "asset_id": asset(number).qualified_name}


def _seconds(http: httpx.Client, checks: list[dict[str, str]]) -> float:
    began = time.perf_counter()
    http.post("/policy/check", json={"checks": checks}).raise_for_status()
    return time.perf_counter() - began


def _policy_change(http: httpx.Client) -> float:
    """From the request that creates a policy to the decision that follows from it."""
    began = time.perf_counter()
    http.post("/policies", json=_deny("bench-change", {"user": "bench-user"})).raise_for_status()
    _until(http, "bench-user", "bench-change")
    seconds = time.perf_counter() - began
    http.delete("/policies/bench-change").raise_for_status()
    return seconds


def _user_change(http: httpx.Client) -> float:
    http.post("/policies", json=_deny("bench-role", {"role": "bench-role"})).raise_for_status()
    _seconds(http, [_check("bench-other", 0)])
    began = time.perf_counter()
    http.post("/users", json={"name": "bench-other", "roles": ["bench-role"]}).raise_for_status()
    _until(http, "bench-other", "bench-role")
    seconds = time.perf_counter() - began
    http.delete("/users/bench-other").raise_for_status()
    http.delete("/policies/bench-role").raise_for_status()
    return seconds


def _deny(policy_id: str, subject: dict[str, str]) -> dict[str, Any]:
    """Decides before any other: a denial, and with the highest priority."""
    body = {"id": policy_id, "name": policy_id, "subjects": [subject], "resources": [{"asset": "*"}]}
    return body | {"actions": ["READ"], "effect": "deny", "priority": 1_000_000}


def _until(http: httpx.Client, user: str, policy_id: str) -> None:
    while True:
        answer = http.post("/policy/check", json={"checks": [_check(user, 0)]})
        if answer.json()["decisions"][0]["policy_id"] == policy_id:
            return
