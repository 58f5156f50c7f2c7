"""Lake: columns per second from the log to readable in the lake, against a bare `MERGE INTO` of the same rows.

A round loads a million columns in ten backlogs into a new stack, and in the same ten batches into a bare Iceberg
table (`bare_lake.py`: a Spark of its own, the same jars, rows ready as Parquet files, nothing around them). Both have
merged other columns before, so that no compiler is cold. The pipeline is paused while the bare side works and while a
backlog is written to the log; Lily's clock runs from resuming it until the last position is applied. So compaction,
which runs beside the stream, is on that clock too; what is left of it after the last backlog is reported. Lily keeps
every event in addition to the assets; the bare side keeps only the assets. Linear means that a column of the million
takes no longer than one of the first backlog. A round takes about five minutes.
"""

import time
from dataclasses import asdict
from typing import NamedTuple

from bench import warehouse
from bench.columns import new_columns, send_columns
from bench.findings import BenchError, Finding, Outcome, Round, at_least, at_most, column, ratios
from bench.merge_into import MergeInto
from bench.run import Run
from bench.stack import BenchStack, spent
from bench.warehouse import TableSize
from lily.bus.topics import ASSETS_BULK
from lily.store.lake.tables import ASSETS, EVENTS

MICRO = 1e6
LINEAR = 1.1  # the time a column takes, apart from what differs between two rounds
Cpu = dict[str, float]


class Step(NamedTuple):
    """One backlog: the seconds of both sides, and the processor time of Lily's parts."""

    lily: float
    bare: float
    cpu: Cpu


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    rounds = [_round(run) for _ in run.rounds(sizes.lake_rounds)]
    detail: dict[str, float] = {"columns": sizes.lake_backlog * sizes.lake_backlogs, "backlog": sizes.lake_backlog}
    return Outcome(_findings(rounds, sizes.lake_backlog, sizes.lake_backlogs), rounds, detail)


def _round(run: Run) -> Round:
    sizes, stack = run.sizes, run.restart()
    run.say("starting the bare side")
    bare = MergeInto()
    try:
        for _ in range(sizes.lake_warm_ups):
            run.say("warming up")
            _step(stack, bare, sizes.lake_backlog)
        before, steps = warehouse.sizes(stack), []
        for number in range(1, sizes.lake_backlogs + 1):
            run.say(f"backlog {number} of {sizes.lake_backlogs}")
            steps.append(_step(stack, bare, sizes.lake_backlog))
    finally:
        bare.close()
    ended = time.monotonic()
    stack.settle_lake()
    rest = time.monotonic() - ended
    return _numbers(steps, sizes.lake_backlog) | _stored(before, warehouse.sizes(stack)) | {"compacting_after": rest}


def _step(stack: BenchStack, bare: MergeInto, count: int) -> Step:
    """The bare side first. Nothing but Lily's own time passes between letting the pipeline go and freezing it again."""
    (pipeline, *_) = stack.processes("pipeline")
    with stack.paused_pipeline():
        columns = new_columns(stack, count)
        merged = bare.merge(bare.prepare(columns))
        ends = send_columns(stack, columns)
        before, began = stack.cpu_seconds(), time.time()
    ended = stack.wait_applied(ends, ASSETS_BULK)
    if stack.processes("pipeline")[0] != pipeline:
        raise BenchError("the pipeline was frozen for so long that its supervisor replaced it")
    return Step(ended - began, merged, spent(before, stack.cpu_seconds(), per=1))


def _numbers(steps: list[Step], backlog: int) -> Round:
    rows = backlog * len(steps)
    lily, bare = sum(step.lily for step in steps), sum(step.bare for step in steps)
    return {
        "seconds": lily,
        "lily": rows / lily,
        "bare": rows / bare,
        "lily_first": backlog / steps[0].lily,
        "bare_first": backlog / steps[0].bare,
        "lily_seconds": [step.lily for step in steps],
        "bare_seconds": [step.bare for step in steps],
        "cpu_microseconds_per_column": _cpu_per_column([step.cpu for step in steps], rows),
    }


def _cpu_per_column(spent_by_step: list[Cpu], rows: int) -> Cpu:
    return {part: sum(cpu[part] for cpu in spent_by_step) / rows * MICRO for part in spent_by_step[0]}


def _stored(before: dict[str, TableSize], after: dict[str, TableSize]) -> Round:
    assets, events = after[ASSETS], after[EVENTS]
    return {
        "bytes_per_asset": assets.live / assets.rows,
        "bytes_per_event": events.live / events.rows,
        "disk_bytes_per_asset": assets.on_disk / assets.rows,
        "disk_bytes_per_event": events.on_disk / events.rows,
        "compactions": assets.compactions - before[ASSETS].compactions,
        "rewritten": assets.rewritten / assets.rows,
        "tables_before": {table: asdict(size) for table, size in before.items()},
        "tables_after": {table: asdict(size) for table, size in after.items()},
    }


def _findings(rounds: list[Round], backlog: int, backlogs: int) -> list[Finding]:
    rows = backlog * backlogs
    what, bare = "columns/s from the log to readable in the lake", "bare `MERGE INTO` of the same rows"
    growth = f"time a column over {rows:,}"
    return [
        Finding(what=what, against=bare, goal=at_least(0.7), values=ratios(rounds, "lily", "bare")),
        Finding(what=f"{what}, first {backlog:,}", against=bare, values=ratios(rounds, "lily_first", "bare_first")),
        Finding(
            what=growth,
            against=f"over the first {backlog:,}",
            goal=at_most(LINEAR),
            values=ratios(rounds, "lily_first", "lily"),
        ),
        Finding(what=f"the same of bare `MERGE INTO`: {growth}", values=ratios(rounds, "bare_first", "bare")),
        Finding(what=what, unit="/s", values=column(rounds, "lily")),
        Finding(what=f"{rows:,} columns readable after", unit="s", values=column(rounds, "seconds")),
        *_reported(rounds),
    ]


def _reported(rounds: list[Round]) -> list[Finding]:
    cpu = [numbers["cpu_microseconds_per_column"]["all"] for numbers in rounds]
    lines = (
        ("processor time a column, all parts", "µs", cpu),
        ("an asset in the lake", "bytes", column(rounds, "bytes_per_asset")),
        ("an event in the lake", "bytes", column(rounds, "bytes_per_event")),
        ("an asset, with the files that older snapshots keep", "bytes", column(rounds, "disk_bytes_per_asset")),
        ("compactions meanwhile", "", column(rounds, "compactions")),
        ("compaction after the last backlog, until at rest", "s", column(rounds, "compacting_after")),
    )
    return [Finding(what=what, unit=unit, values=values) for what, unit, values in lines]
