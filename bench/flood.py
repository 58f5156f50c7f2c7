"""Flood: the hot lane's latency while a million new columns flood the bulk lane, against the same without the flood.

Tracers (see `tracer.py`) and a steady hot load, at a low and a high rate, first while nothing else happens (except
that the lake stores the hot lane's own events) and then while a generator process sends columns faster than the lake
can take them. A flooded window counts only if the lake was still behind when it ended. Between the rounds the lake
catches up and comes to rest. Both generators share the cores with the stack. A round takes about four minutes.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.columns import fill
from bench.findings import BenchError, Finding, Outcome, Round, at_most, column, percentile, ratios
from bench.run import Run
from bench.stack import BenchStack
from bench.steady import steady
from lily.bus.topics import ASSETS_BULK

HEAD_START = 10.0  # seconds of the flood before the first window: as long as the lake may wait for its next batch
END_SECONDS = 120


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    run.say("warming up")
    fill(stack, sizes.lake_backlog)
    for rate in sizes.flood_hot_rates:
        _window(run, stack, rate)
    rounds = [_round(run, stack) for _ in run.rounds(sizes.flood_rounds)]
    detail = {
        "columns": sizes.flood_columns,
        "columns_per_second": sizes.flood_rate,
        "seconds": sizes.flood_seconds,
        "assets": sizes.pool,
    }
    return Outcome(_findings(rounds, sizes.flood_hot_rates, sizes.flood_columns), rounds, detail)


def _round(run: Run, stack: BenchStack) -> Round:
    found: Round = {}
    for rate in run.sizes.flood_hot_rates:
        stack.settle_lake()
        run.say(f"quiet, {rate:,} events/s")
        found |= _named(f"quiet_{rate}", _window(run, stack, rate))
    stack.settle_lake()
    run.say("preparing the flood")
    with _flooded(run, stack) as flood:
        for rate in run.sizes.flood_hot_rates:
            run.say(f"flooded, {rate:,} events/s")
            found |= _named(f"flooded_{rate}", _flooded_window(run, stack, rate))
        run.say("waiting for the flood to end")
    stack.wait_applied(stack.ends(ASSETS_BULK), ASSETS_BULK)
    return found | flood | {"flood_readable_after": time.time() - flood["began"]}


def _window(run: Run, stack: BenchStack, rate: int) -> Round:
    seen = steady(stack, pool=run.sizes.pool, rate=rate, seconds=run.sizes.flood_seconds).latencies
    stack.settle()
    return {"p50": percentile(seen, 50), "p99": percentile(seen, 99), "worst": max(seen), "tracers": len(seen)}


def _flooded_window(run: Run, stack: BenchStack, rate: int) -> Round:
    """Raises BenchError if the flood was over before the window was."""
    before, began = sum(stack.applied(ASSETS_BULK).values()), time.time()
    found = _window(run, stack, rate)
    if not (behind := stack.lag(ASSETS_BULK)):
        raise BenchError(f"the lake was done with the flood before {rate:,} events/s were measured: flood it with more")
    merged = (sum(stack.applied(ASSETS_BULK).values()) - before) / (time.time() - began)
    return found | {"columns_behind": behind, "columns_per_second": merged}


@contextmanager
def _flooded(run: Run, stack: BenchStack) -> Iterator[Round]:
    """While the flood goes on, from when the lake has begun to work on it. Afterwards the round has what was sent."""
    count = run.sizes.flood_columns
    order = {"kafka": stack.kafka, "first": stack.columns, "count": count, "rate": run.sizes.flood_rate}
    stack.columns += count
    told: Round = {}
    command = [sys.executable, "-m", "bench.flood_load", json.dumps(order)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as generator:
        try:
            assert generator.stdin
            assert generator.stdout
            if generator.stdout.readline().strip() != "ready":
                raise BenchError("the flood did not start")
            told["began"] = time.time()
            generator.stdin.write("go\n")
            generator.stdin.flush()
            time.sleep(HEAD_START)
            yield told
            said, _ = generator.communicate(timeout=END_SECONDS)
            told["flood"] = json.loads(said)
        finally:
            generator.kill()


def _named(name: str, numbers: Round) -> Round:
    return {f"{name}_{key}": value for key, value in numbers.items()}


def _findings(rounds: list[Round], rates: tuple[int, ...], columns: int) -> list[Finding]:
    found: list[Finding] = []
    for rate in rates:
        what = f"hot lane at {rate:,} events/s while {columns:,} columns flood the bulk lane"
        goals = (at_most(0.5), at_most(1)) if rate == max(rates) else (None, None)
        against = ratios(rounds, f"flooded_{rate}_p99", f"quiet_{rate}_p99")
        found += [
            Finding(what=f"{what}: p99", against="quiet", goal=at_most(2), values=against),
            *(
                Finding(what=f"{what}: {part}", goal=goal, unit="s", values=column(rounds, f"flooded_{rate}_{part}"))
                for part, goal in zip(("p50", "p99"), goals, strict=True)
            ),
            Finding(
                what=f"the same, quiet: p99, {rate:,} events/s", unit="s", values=column(rounds, f"quiet_{rate}_p99")
            ),
        ]
    return [
        *found,
        Finding(what="the whole flood readable after", unit="s", values=column(rounds, "flood_readable_after")),
    ]
