"""Warms the stack up until it costs the same: the first minutes of a JVM are those of its compiler."""

import time
from collections.abc import Callable, Sequence

from bench.run import Run
from bench.stack import BenchStack, cpu_seconds_of
from bench.steady import steady

WINDOWS = 3  # in a row
AGREE_WITHIN = 0.05  # of the largest
MICROSECONDS = 1e6


def warm_up(run: Run, stack: BenchStack, rest: Callable[[], None] | None = None) -> dict[str, float]:
    """Keeps the rate in windows until three in a row cost the same processor time per event, or until the time is up.
    Before each, `rest` waits until the stack is at rest: by default, until the lake is. What it took, for the record:
    `warm_up_spread` is that of the last three windows."""
    sizes, rest = run.sizes, rest or stack.settle_lake
    began = time.monotonic()

    def window() -> float:
        rest()
        before = cpu_seconds_of(stack.processes())
        steady(stack, pool=sizes.pool, rate=sizes.rate, seconds=sizes.window_seconds)
        stack.settle()
        spent = cpu_seconds_of(stack.processes()) - before
        return spent * MICROSECONDS / (sizes.rate * sizes.window_seconds)

    def in_time() -> bool:
        return time.monotonic() - began < sizes.warm_up_seconds

    costs = until_steady(window, in_time, say=run.say)
    return {
        "warm_up_windows": len(costs),
        "warm_up_seconds": time.monotonic() - began,
        "warm_up_first": costs[0],
        "warm_up_last": costs[-1],
        "warm_up_spread": spread(costs[-WINDOWS:]),
    }


def until_steady(
    window: Callable[[], float], in_time: Callable[[], bool], say: Callable[[str], None] = lambda _: None
) -> list[float]:
    """What each window cost; there are at least three."""
    costs: list[float] = []
    while len(costs) < WINDOWS or (spread(costs[-WINDOWS:]) > AGREE_WITHIN and in_time()):
        costs.append(window())
        say(f"warming up: {costs[-1]:.1f} µs per event")
    return costs


def spread(costs: Sequence[float]) -> float:
    """The difference of the largest and the smallest, as a share of the largest."""
    return (max(costs) - min(costs)) / max(costs)
