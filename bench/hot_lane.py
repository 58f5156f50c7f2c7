"""Hot lane: events a second from the log to queryable, against the same rows put into PostgreSQL by hand.

The pipeline is frozen while the backlog is written to the log, so that all of it is there before the clock starts.
The clock starts when the pipeline is let go and stops when the last position can be read as applied: waking up,
planning, the small last batch and the relay publishing every change at the same time are all part of it. The other
side has the machine to itself. Every event changes its asset; each asset occurs once in a backlog, so there is nothing
to fold away.
"""

import time

from bench.bare import Bare, Row, fresh_rows
from bench.events import Payloads, producer, sample, send
from bench.findings import Finding, Outcome, Round, at_least, column, ratios
from bench.run import Run
from bench.stack import BenchStack


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    assets = sample(sizes.pool, sizes.backlog, seed=1)
    bare = Bare(stack.database_url)
    try:
        bare.merge(fresh_rows(assets))
        _catch_up(stack, Payloads(assets), sizes.backlog)  # a first time, for the caches of both sides
        rounds = [_round(run, stack, bare) for _ in run.rounds()]
    finally:
        bare.drop()
    return Outcome(_findings(rounds), rounds, {"events": sizes.backlog, "assets": sizes.pool})


def _round(run: Run, stack: BenchStack, bare: Bare) -> Round:
    sizes = run.sizes
    assets = sample(sizes.pool, sizes.backlog, seed=time.time_ns())
    run.say("the log's backlog")
    numbers: Round = {"hot_lane": _catch_up(stack, Payloads(assets), sizes.backlog)}
    rows = _rows(sizes.backlog, assets)
    run.say("bare COPY + merge")
    numbers["copy_merge"] = bare.merge(_rows(sizes.backlog, assets))
    numbers["copy_merge_2_connections"] = bare.merge(_rows(sizes.backlog, assets), connections=2)
    run.say("a commit a row")
    numbers["commit_each"] = bare.commit_each(rows[: sizes.single_commits])
    return numbers
