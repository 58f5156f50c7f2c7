"""A steady load from a process of its own, with tracers beside it."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from bench.events import TENANT
from bench.findings import BenchError
from bench.stack import BenchStack
from bench.tracer import Tracer

KEPT = 0.98  # of the rate asked for; less, and the round says nothing about that rate


@dataclass(frozen=True, slots=True)
class Steady:
    latencies: list[float]
    load: dict[str, Any]


def steady(
    stack: BenchStack, *, pool: int, rate: int, seconds: float, changed: float = 1.0, traced: str = TENANT
) -> Steady:
    """`changed` is the share of the events that are changes, `traced` the tenant of the tracers. Raises BenchError if
    the generator could not keep the rate."""
    load = {"pool": pool, "rate": rate, "seconds": seconds, "changed": changed}
    order = {"kafka": stack.kafka, "seed": time.time_ns(), **load}
    command = [sys.executable, "-m", "bench.steady_load", json.dumps(order)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as generator:
        try:
            assert generator.stdin
            assert generator.stdout
            if generator.stdout.readline().strip() != "ready":
                raise BenchError("the load generator did not start")
            generator.stdin.write("go\n")
            generator.stdin.flush()
            tracer = Tracer(stack.kafka, stack.database_url, seconds, traced)
            done = json.loads(generator.stdout.read())
        finally:
            generator.kill()
    if done["per_second"] < rate * KEPT:
        raise BenchError(f"the load generator reached only {done['per_second']:,.0f} of {rate:,} events/s")
    return Steady(tracer.latencies(), done)
