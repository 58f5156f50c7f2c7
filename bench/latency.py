"""Latency of the hot lane at a steady rate, and the lag of the change log at the same time.

The stack is warmed up first, until three windows in a row cost the same processor time per event (see *processor*).
A generator process keeps the rate; tracer events (see `tracer.py`) show when an event becomes queryable, and the
pipeline's own histogram is read beside them as a cross-check. A consumer of `metadata-events` counts every change and
times one in ten. All of that shares the machine's cores with the stack.
"""

import httpx
from prometheus_client.parser import text_string_to_metric_families

from bench.change_feed import ChangeFeed
from bench.findings import Finding, Outcome, Round, at_most, column, percentile
from bench.run import Run
from bench.stack import BenchStack
from bench.steady import steady
from bench.warm_up import warm_up
from lily.pipeline.latency import BOUNDS

Buckets = dict[float, float]


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    warm = warm_up(run, stack)
    rounds = []
    for _ in run.rounds():
        run.say(f"{sizes.rate:,} events/s for {sizes.steady_seconds:g} s")
        rounds.append(_round(run, stack))
    detail = {"events_per_second": sizes.rate, "seconds": sizes.steady_seconds, "assets": sizes.pool, **warm}
    return Outcome(_findings(rounds, f"{sizes.rate:,} events/s"), rounds, detail)


def _round(run: Run, stack: BenchStack) -> Round:
    sizes = run.sizes
    stack.settle_lake()  # else the lake would be busy with what came before
    before, feed = _histogram(stack), ChangeFeed(stack.kafka)
    try:
        seen = steady(stack, pool=sizes.pool, rate=sizes.rate, seconds=sizes.steady_seconds)
        stack.settle()
        feed.drain()
    finally:
        feed.close()
    own = {bound: count - before[bound] for bound, count in _histogram(stack).items()}
    return {
        "p50": percentile(seen.latencies, 50),
        "p99": percentile(seen.latencies, 99),
        "worst": max(seen.latencies),
        "tracers": len(seen.latencies),
        "own_p50_at_most": _bucket(own, 50),
        "own_p99_at_most": _bucket(own, 99),
        "lag_p50": percentile(feed.lags, 50),
        "lag_p99": percentile(feed.lags, 99),
        "published": feed.count,
        "drained_after_load": feed.last - seen.load["ended"],
        **{f"load_{name}": value for name, value in seen.load.items() if name not in ("began", "ended")},
    }


def _histogram(stack: BenchStack) -> Buckets:
    """The pipeline's own buckets: how many events took at most so many seconds."""
    text = httpx.get(f"http://127.0.0.1:{stack.ports['pipeline']}/metrics").text
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {
        float(sample.labels["le"]): sample.value
        for sample in samples
        if sample.name == "lily_pipeline_latency_seconds_bucket"
    }


def _bucket(counts: Buckets, percent: float) -> float:
    """The bound below which so many percent lie; the largest one if they lie beyond it."""
    wanted = max(counts.values()) * percent / 100
    return next((bound for bound in BOUNDS if counts[bound] >= wanted), BOUNDS[-1])


def _findings(rounds: list[Round], load: str) -> list[Finding]:
    what, lag = f"produced to queryable at a steady {load}", "committed to published on `metadata-events`"
    own = "by the pipeline's own histogram at most"
    return [
        Finding(what=f"{what}: p50", goal=at_most(0.5), unit="s", values=column(rounds, "p50")),
        Finding(what=f"{what}: p99", goal=at_most(1), unit="s", values=column(rounds, "p99")),
        Finding(what=f"the same: p50, {own}", unit="s", values=column(rounds, "own_p50_at_most")),
        Finding(what=f"the same: p99, {own}", unit="s", values=column(rounds, "own_p99_at_most")),
        Finding(what=f"{lag}: p99", goal=at_most(0.5), unit="s", values=column(rounds, "lag_p99")),
        # Keeping up: the slowest event the goals allow, and the slowest lag after it.
        Finding(
            what="end of the load to its last change published",
            goal=at_most(2.0),
            unit="s",
            values=column(rounds, "drained_after_load"),
        ),
    ]
