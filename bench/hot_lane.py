"""Hot lane: events per second from the log to queryable, against the same rows written to PostgreSQL directly.

The pipeline is paused while the backlog is written to the log, so that all of it is there before the clock starts.
The clock starts when the pipeline is resumed and stops when the last position is applied: resuming, planning, the
small last batch and the relay publishing every change at the same time are all part of it. The other side has the
machine to itself. Every event changes its asset; each asset occurs once in a backlog, so there is nothing to
aggregate.
"""

import time

from bench.bare import Bare, fresh_rows
from bench.events import Asset, Payloads, producer, sample, send
from bench.findings import Finding, Outcome, Round, at_least, column, ratios
from bench.run import Run
from bench.stack import BenchStack, spent


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    bare = Bare(stack.database_url)
    try:
        everything = sample(sizes.pool, sizes.pool, seed=0)
        bare.merge(fresh_rows(everything))  # both sides update what is there
        _catch_up(stack, everything[: sizes.backlog])  # and have done it once before
        rounds = [_round(run, stack, bare) for _ in run.rounds()]
    finally:
        bare.drop()
    return Outcome(_findings(rounds), rounds, {"events": sizes.backlog, "assets": sizes.pool})


def _catch_up(stack: BenchStack, assets: list[Asset]) -> Round:
    """Events a second of a backlog with one event an asset, and the processor time that each part spent on an event."""
    stack.settle()
    log, payloads = producer(stack.kafka), Payloads(assets)
    with stack.paused_pipeline():
        send(log, payloads, len(assets))
        log.flush(60)
        ends = stack.ends()
        before, began = stack.cpu_seconds(), time.time()
    ended = stack.wait_applied(ends)
    stack.settle()
    cost = spent(before, stack.cpu_seconds(), per=len(assets) / 1e6)
    return {"hot_lane": len(assets) / (ended - began), "cpu_microseconds_per_event": cost}


def _round(run: Run, stack: BenchStack, bare: Bare) -> Round:
    assets = sample(run.sizes.pool, run.sizes.backlog, seed=time.time_ns())
    run.say("the log's backlog")
    hot_lane = _catch_up(stack, assets)
    run.say("bare COPY + merge")
    one = bare.merge(fresh_rows(assets))
    two = bare.merge(fresh_rows(assets), connections=2)
    run.say("a commit a row")
    each = bare.commit_each(fresh_rows(assets[: run.sizes.single_commits]))
    return hot_lane | {"copy_merge": one, "copy_merge_2_connections": two, "commit_each": each}


def _findings(rounds: list[Round]) -> list[Finding]:
    what = "events/s from the log to queryable"
    bare = ratios(rounds, "hot_lane", "copy_merge")
    both = ratios(rounds, "hot_lane", "copy_merge_2_connections")
    each = ratios(rounds, "hot_lane", "commit_each")
    return [
        Finding(what=what, against="bare COPY + newest-wins merge", goal=at_least(0.35), values=bare),
        Finding(what=what, against="the same over two connections at once", values=both),
        Finding(what=what, against="one commit a row", goal=at_least(5), values=each),
        Finding(what=what, goal=at_least(25_000), unit="/s", values=column(rounds, "hot_lane")),
    ]
