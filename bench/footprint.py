"""What the stack uses: seconds to start, memory, and CPU while nothing happens.

Start is `lily up` in an empty directory with the jars cached, until it reports ready: with the directories of
PostgreSQL and Kafka created, the schema migrated and the queries warm. Memory is the sum over every process, the
supervisor included, of its proportional share (memory that several processes share counts once), as `lily status`
shows it. Idle CPU is the processor time of all of them together, some minutes after the last load.
"""

import time

from bench.findings import Finding, Outcome, Round, at_most, column
from bench.run import Run
from bench.stack import BenchStack, spent
from lily.embedded.memory import part_rows, tree_bytes
from lily.embedded.state import load

GIGABYTE = 1e9


def start(run: Run) -> Outcome:
    rounds = [{"seconds": run.restart().start_seconds} for _ in run.rounds(run.sizes.starts)]
    finding = Finding(
        what="`lily up` until ready, jars cached", goal=at_most(15), unit="s", values=column(rounds, "seconds")
    )
    return Outcome([finding], rounds)


def memory(run: Run) -> Outcome:
    stack = run.filled(run.sizes.pool)
    stack.settle()
    numbers = _memory(stack)
    finding = Finding(
        what="resident memory of the whole stack after the load",
        goal=at_most(2.2),
        unit="GB",
        values=[numbers["total"] / GIGABYTE],
    )
    return Outcome([finding], [numbers])


def idle(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.stack
    stack.settle()
    run.say(f"letting the stack settle for {sizes.idle_after:g} s")
    time.sleep(sizes.idle_after)
    rounds = []
    for _ in run.rounds():
        run.say("watching the idle stack")
        rounds.append(_idle_round(stack, sizes.idle_window))
    findings = [
        Finding(
            what=f"idle stack, {sizes.idle_after:g} s after the last load",
            goal=at_most(0.15),
            unit="cores",
            values=column(rounds, "cores"),
        ),
        Finding(what="resident memory then", goal=at_most(2.2), unit="GB", values=[_memory(stack)["total"] / GIGABYTE]),
    ]
    return Outcome(findings, rounds, {"seconds_after_load": sizes.idle_after, "seconds": sizes.idle_window})


def _memory(stack: BenchStack) -> Round:
    parts = {str(row["name"]): row["rss_bytes"] for row in part_rows(load(stack.data_dir))}
    return {"total": tree_bytes(stack.processes()[0])} | parts


def _idle_round(stack: BenchStack, seconds: float) -> Round:
    began, before = time.monotonic(), stack.cpu_seconds()
    time.sleep(seconds)
    by_part = spent(before, stack.cpu_seconds(), per=time.monotonic() - began)
    return {"cores": by_part["all"], "cores_by_part": by_part}
