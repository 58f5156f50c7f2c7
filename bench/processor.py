"""Processor time per event, by part, at a steady rate: the figure to manage, because it hardly depends on how busy the
machine is.

The load is the one of `latency`: plain changes of known assets. The time is that of every process of a part, from the
first event to the last one published; what the lake spends afterwards is counted by itself. The generator and what
observes it are not counted.
"""

import psutil  # type: ignore[import-untyped]

from bench.findings import Finding, Outcome, Round, at_most
from bench.run import Run
from bench.stack import BenchStack, cpu_seconds_of, spent
from bench.steady import steady

MICROSECONDS = 1e6
PARTS = ("kafka", "postgres", "jvm", "python", "worker", "api")
GOAL, LAKE_GOAL = 90.0, 20.0  # µs of all parts, and of the lake afterwards


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    rounds = []
    for _ in run.rounds():
        run.say(f"{sizes.rate:,} events/s for {sizes.steady_seconds:g} s")
        rounds.append(_round(run, stack))
    detail = {"events_per_second": sizes.rate, "seconds": sizes.steady_seconds, "assets": sizes.pool}
    return Outcome(_findings(rounds), rounds, detail)


def _round(run: Run, stack: BenchStack) -> Round:
    stack.settle_lake()
    before = seconds_by_part(stack)
    steady(stack, pool=run.sizes.pool, rate=run.sizes.rate, seconds=run.sizes.steady_seconds)
    stack.settle()
    after = seconds_by_part(stack)
    stack.settle_lake()
    events = run.sizes.rate * run.sizes.steady_seconds / MICROSECONDS
    by_part = spent(before, after, per=events)
    lake = spent(after, seconds_by_part(stack), per=events)
    return {"total": sum(by_part.values()), "lake": sum(lake.values()), **by_part}


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


def _findings(rounds: list[Round]) -> list[Finding]:
    def values(name: str) -> list[float]:
        return [float(numbers[name]) for numbers in rounds]

    total = Finding(what="processor time per event, all parts", goal=at_most(GOAL), unit="µs", values=values("total"))
    lake = Finding(what="the lake afterwards", goal=at_most(LAKE_GOAL), unit="µs", values=values("lake"))
    parts = [Finding(what=f"of it: {part}", unit="µs", values=values(part)) for part in PARTS]
    return [total, *parts, lake]
