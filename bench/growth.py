"""Growth: the hot lane's p99 with 10 times the assets stored, against the p99 with 1 times.

Two stacks run side by side on this machine, one with the small catalogue, one with the large, both loaded through the
log; they are measured in turn while the other one idles. The events are spread evenly over all stored assets. The
large one also carries the history of the measurements before.
"""

from bench import stack as stacks
from bench.findings import Finding, Outcome, Round, at_most, column, percentile, ratios
from bench.run import Run
from bench.stack import SPINE, BenchStack
from bench.steady import steady


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    few, many = sizes.growth_from, sizes.growth_from * sizes.growth_times
    large = run.filled(many)
    run.say("starting a second stack")
    small = stacks.start(SPINE)
    try:
        run.say(f"{few:,} assets through the second log")
        small.fill(few)
        _p99(run, small, few, "the small one, to warm up")
        rounds = [_round(run, small, large, few, many) for _ in run.rounds()]
    finally:
        run.say("stopping the second stack")
        stacks.stop(small)
    what = f"hot lane p99 with {many:,} assets stored"
    findings = [
        Finding(what=what, against=f"with {few:,}", goal=at_most(1.3), values=ratios(rounds, "many_p99", "few_p99")),
        Finding(what=what, unit="s", values=column(rounds, "many_p99")),
    ]
    return Outcome(findings, rounds, {"events_per_second": sizes.rate, "seconds": sizes.growth_seconds})


def _round(run: Run, small: BenchStack, large: BenchStack, few: int, many: int) -> Round:
    return {
        "few_p99": _p99(run, small, few, f"{few:,} assets"),
        "many_p99": _p99(run, large, many, f"{many:,} assets"),
    }


def _p99(run: Run, stack: BenchStack, pool: int, what: str) -> float:
    run.say(what)
    stack.settle()
    seen = steady(stack, pool=pool, rate=run.sizes.rate, seconds=run.sizes.growth_seconds)
    stack.settle()
    return percentile(seen.latencies, 99)
