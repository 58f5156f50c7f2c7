"""Decisions in process against cedarpy, and how long a large tenant takes to compile.

Both sides get the same random checks: policies with subjects, resources and conditions, roles that inherit, parsed once
on either side; in batches of 100 for Lily and of 1,000 for cedarpy. Before a rate counts, every decision must be the
same; if one is not, the measurement fails. Contexts are drawn from a thousand, principals from five hundred, assets
from 125. What Lily keeps of a context's conditions is cleared before each round, what it keeps of a principal is not.
Both run in one thread of this process, and the rate is by processor time, so other load distorts it less. Then
10,000 policies and 100,000 users are compiled, and the first decision of each principal is measured apart, because it
arranges the principal's policies.
"""

import time
from collections.abc import Sequence
from itertools import islice

from bench.cedar import Cedar
from bench.findings import BenchError, Finding, Outcome, Round, at_least, at_most, column, ratios
from bench.policy_world import PolicyWorld, Scale, policy_world
from bench.run import Run
from lily.policy import Check, Facts, Principal, User, compile_policies

_BATCH = 100
_AGAINST = "cedarpy, parsed policies"


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    run.say(f"{sizes.policy_checks:,} checks that both sides must decide alike")
    world = policy_world(1, Scale(sizes.policies, sizes.policy_checks))
    cedar = Cedar(world)
    _refuse_difference(world, cedar)
    large = policy_world(2, Scale(sizes.many_policies, 0, users=sizes.many_users, roles=200, groups=200, tables=500))
    rounds = [_round(run, world, cedar, large) for _ in run.rounds()]
    return Outcome(_findings(rounds), rounds, {"policies": sizes.policies, "checks": sizes.policy_checks})


def _refuse_difference(world: PolicyWorld, cedar: Cedar) -> None:
    index = compile_policies("bench", world.policies, world.roles, world.users)
    ours = [decision.allowed for decision in index.decide_batch(world.checks)]
    theirs = cedar.allowed(cedar.requests(world.checks))
    differing = [number for number, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other]
    if differing:
        raise BenchError(f"{len(differing)} of {len(ours)} decisions differ from Cedar's, the first is {differing[0]}")
    if not 0.1 < sum(ours) / len(ours) < 0.9:
        raise BenchError(f"{sum(ours)} of {len(ours)} checks are allowed: the comparison would show little")


def _round(run: Run, world: PolicyWorld, cedar: Cedar, large: PolicyWorld) -> Round:
    run.say("cedarpy")
    requests = cedar.requests(world.checks[: run.sizes.cedar_checks])
    began = time.process_time()
    cedar.allowed(requests)
    theirs = len(requests) / (time.process_time() - began)
    run.say("Lily")
    return {"ours": _rate(world), "theirs": theirs} | _compiled(large)


def _rate(world: PolicyWorld) -> float:
    index = compile_policies("bench", world.policies, world.roles, world.users)
    batches = list(_batches(world.checks))
    for batch in batches:  # arranges each principal's policies, which `first_ms` measures
        index.decide_batch(batch)
    for check in world.checks:
        check.context.results.clear()  # what an earlier round has evaluated
    began = time.process_time()
    for batch in batches:
        index.decide_batch(batch)
    return len(world.checks) / (time.process_time() - began)


def _batches(checks: Sequence[Check]) -> list[list[Check]]:
    source = iter(checks)
    return [batch for _ in range(len(checks) // _BATCH) if (batch := list(islice(source, _BATCH)))]


def _compiled(large: PolicyWorld) -> Round:
    users: list[User] = large.users
    began = time.process_time()
    index = compile_policies("bench", large.policies, large.roles, users)
    compiled = time.process_time()
    people = [Principal(user.name) for user in users[:: max(len(users) // 200, 1)]]
    facts: Facts = large.assets[-1]
    arranged = time.process_time()
    for principal in people:
        index.decide(principal, "READ", facts)
    first = (time.process_time() - arranged) / len(people)
    return {"compile_s": compiled - began, "first_ms": first * 1_000}


def _findings(rounds: list[Round]) -> list[Finding]:
    return [
        Finding(
            what="checks/s in process", against=_AGAINST, goal=at_least(50), values=ratios(rounds, "ours", "theirs")
        ),
        Finding(what="checks/s in process", unit="/s", values=column(rounds, "ours")),
        Finding(what="checks/s, cedarpy", unit="/s", values=column(rounds, "theirs")),
        Finding(
            what="compile 10,000 policies and 100,000 users",
            goal=at_most(2),
            unit="s",
            values=column(rounds, "compile_s"),
        ),
        Finding(what="first decision of a principal among them", unit="ms", values=column(rounds, "first_ms")),
    ]
