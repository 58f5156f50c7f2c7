"""Processor time per event, by part, at a steady rate: the figure to manage, because it hardly depends on how busy the
machine is.

The stack is warmed up with the same load until three windows in a row cost the same within 5 %, or until seven minutes
have passed; how that ended is in the results. The time is that of every process of a part, from the first event to the
last one published; what the lake spends afterwards is counted by itself, and so is, in the part where it falls, what it
spends meanwhile. The generator and what observes it are not counted, but what PostgreSQL answers to the tracers is, a
hundred times a second.

Three loads about known assets. *Changes*, as in `latency`. *Unchanged*: every event states what is stored already, with
a new id and time. *Read again*: one event in twenty is a change. The tracers beside them, one event in a hundred, are
always changes.
"""

from typing import NamedTuple

import psutil  # type: ignore[import-untyped]

from bench.events import Payloads, asset, producer, send
from bench.findings import Finding, Goal, Outcome, Round, at_most
from bench.run import Run
from bench.stack import BenchStack, cpu_seconds_of, spent
from bench.steady import steady
from bench.warm_up import MICROSECONDS, warm_up

PARTS = ("kafka", "postgres", "jvm", "python", "worker", "api")


class Load(NamedTuple):
    name: str  # of the keys in the results; that of plain changes is empty
    what: str
    changed: float
    goal: Goal | None = None  # µs of all parts
    lake_goal: Goal | None = None


CHANGES = Load("", "event", 1.0, at_most(90.0), at_most(20.0))
UNCHANGED = Load("unchanged_", "event that changes nothing", 0.0, at_most(30.0))
READ_AGAIN = Load("read_again_", "event of a source read again, 5 % changed", 0.05)
LOADS = (CHANGES, UNCHANGED, READ_AGAIN)


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    warm = warm_up(run, stack)
    rounds: list[Round] = []
    for load in LOADS:
        if load is UNCHANGED:
            _state_the_same(stack, sizes.pool)
        for number in run.rounds():
            run.say(f"{sizes.rate:,} events/s for {sizes.steady_seconds:g} s, {load.changed:.0%} changed")
            if load is CHANGES:
                rounds.append({})
            rounds[number - 1] |= _round(run, stack, load)
    detail = {"events_per_second": sizes.rate, "seconds": sizes.steady_seconds, "assets": sizes.pool, **warm}
    return Outcome([finding for load in LOADS for finding in _findings(rounds, load)], rounds, detail)


def _state_the_same(stack: BenchStack, pool: int) -> None:
    """So that what is stated again with this number changes nothing."""
    log = producer(stack.kafka)
    send(log, Payloads(map(asset, range(pool)), changed=0.0), pool)
    log.flush(60)
    stack.settle()


def _round(run: Run, stack: BenchStack, load: Load) -> Round:
    sizes = run.sizes
    stack.settle_lake()
    before = seconds_by_part(stack)
    steady(stack, pool=sizes.pool, rate=sizes.rate, seconds=sizes.steady_seconds, changed=load.changed)
    stack.settle()
    after = seconds_by_part(stack)
    stack.settle_lake()
    events = sizes.rate * sizes.steady_seconds / MICROSECONDS
    by_part = spent(before, after, per=events)
    lake = spent(after, seconds_by_part(stack), per=events)
    found = {"total": sum(by_part.values()), "lake": sum(lake.values()), **by_part}
    return {f"{load.name}{name}": value for name, value in found.items()}


def seconds_by_part(stack: BenchStack) -> dict[str, float]:
    """The pipeline's JVM and its Python processes apart: one decodes and schedules, the others validate and merge."""
    pipeline = stack.processes("pipeline")
    jvm = [process for process in pipeline if _is_java(process)]
    found = {part: stack.processes(part) for part in ("kafka", "postgres", "worker", "api")}
    found |= {"jvm": jvm, "python": [process for process in pipeline if process not in jvm]}
    return {part: cpu_seconds_of(processes) for part, processes in found.items()}


def _is_java(process: psutil.Process) -> bool:
    try:
        return "java" in process.name()
    except psutil.NoSuchProcess:
        return False


def _findings(rounds: list[Round], load: Load) -> list[Finding]:
    def values(name: str) -> list[float]:
        return [float(numbers[f"{load.name}{name}"]) for numbers in rounds]

    what = f"processor time per {load.what}, all parts"
    total = Finding(what=what, goal=load.goal, unit="µs", values=values("total"))
    lake = Finding(what="the lake afterwards", goal=load.lake_goal, unit="µs", values=values("lake"))
    parts = [Finding(what=f"of it: {part}", unit="µs", values=values(part)) for part in PARTS]
    return [total, *parts, lake]
