"""Processor time by part of the stack, and of what can be told apart within a part.

The pipeline's JVM and its Python processes count apart: one decodes and schedules, the others validate and merge.
Within a part, by the names of its threads: in the worker the relay, the reactions, the job queue and Kafka's client,
which serves both relay and reactions; in the JVM its compilers and its collector. The lake's Python processes are those
with the lake's niceness. The time of a thread that has ended since is not found again: compilers come and go.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from bench.stack import BenchStack, cpu_seconds_of
from lily.pipeline.session import LAKE_NICENESS
from lily.reactions.worker import RESIDENTS

PARTS = ("kafka", "postgres", "jvm", "python", "worker", "api")
RELAY, REACTIONS, JOBS, CLIENT = "worker: relay", "worker: reactions", "worker: jobs", "worker: Kafka's client"
COMPILERS, COLLECTOR, LAKE = "jvm: compilers", "jvm: collector", "python: the lake's"
INSIDE = (RELAY, REACTIONS, JOBS, CLIENT, COMPILERS, COLLECTOR, LAKE)
NAME_LENGTH = 15  # what Linux keeps of a thread's name
_REACTIONS = {name[:NAME_LENGTH] for name in RESIDENTS} - {"relay", "jobs"}


def seconds_by_part(stack: BenchStack) -> dict[str, float]:
    jvm, python = _pipeline(stack)
    found = {part: stack.processes(part) for part in ("kafka", "postgres", "worker", "api")}
    found |= {"jvm": jvm, "python": python}
    return {part: cpu_seconds_of(found[part]) for part in PARTS}


def seconds_inside(stack: BenchStack) -> dict[str, float]:
    jvm, python = _pipeline(stack)
    found = dict.fromkeys(INSIDE, 0.0)
    for process in (*jvm, *stack.processes("worker")):
        for name, seconds in _threads(process):
            if place := place_of(name):
                found[place] += seconds
    found[LAKE] = cpu_seconds_of([process for process in python if _niceness(process) == LAKE_NICENESS])
    return found


def place_of(thread: str) -> str:
    """Which of `INSIDE` a thread of the worker or of the JVM belongs to, by its name; empty for none."""
    if thread in _REACTIONS:
        return REACTIONS
    for start, place in (("relay", RELAY), ("jobs", JOBS), ("rdk:", CLIENT), ("VM Thread", COLLECTOR)):
        if thread.startswith(start):
            return place
    return COMPILERS if thread.startswith(("C1 Compiler", "C2 Compiler")) else ""


def _pipeline(stack: BenchStack) -> tuple[list[psutil.Process], list[psutil.Process]]:
    """The JVM, and the Python processes."""
    pipeline = stack.processes("pipeline")
    jvm = [process for process in pipeline if _is_java(process)]
    return jvm, [process for process in pipeline if process not in jvm]


def _threads(process: psutil.Process) -> Iterator[tuple[str, float]]:
    """The name and the processor time of each thread that lives."""
    with suppress(psutil.NoSuchProcess):
        for thread in process.threads():
            with suppress(OSError):  # it has ended since
                name = Path(f"/proc/{process.pid}/task/{thread.id}/comm").read_text().strip()
                yield name, thread.user_time + thread.system_time


def _is_java(process: psutil.Process) -> bool:
    try:
        return "java" in process.name()
    except psutil.NoSuchProcess:
        return False


def _niceness(process: psutil.Process) -> int:
    try:
        return int(process.nice())
    except psutil.NoSuchProcess:
        return 0
