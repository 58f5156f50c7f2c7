"""Processor time per event, by part, at a steady rate: the figure to manage, because it hardly depends on how busy the
machine is. Two figures per load: the path of an event without the lake, and the lake's share.

*Without the lake*: a stack whose lake waits a month for its next batch, so that none falls into a window; a round
counts only if none did. The time is that of every process of a part, from the first event to the last one published.
*The lake's share*: a second stack with the lake as it comes. Its rounds last until the lake has everything and has
compacted it; what the idle stack spends, watched for some seconds before, is taken off for the time after the window.
The share is the whole of such a round less the median of the rounds without the lake, so it has everything that events
cost because there is a lake: its Python processes, Spark's tasks and plans, PostgreSQL, reading the log once more, and
what the hot lane loses where both run. It is the difference of two large numbers, so it varies more than either. As a
check from another side, the time of the Python processes with the lake's niceness is reported: a part of the share.

Both stacks are warmed up with the same load until three windows in a row cost the same within 5 %, or until seven
minutes have passed; how that ended is in the results. The generator and what observes it are not counted, but what
PostgreSQL answers to the tracers is, a hundred times a second. What is inside of a part is found as `parts.py` says.

Three loads about known assets. *Changes*, as in `latency`. *Unchanged*: every event states what is stored already, with
a new id and time. *Read again*: one event in twenty is a change. The tracers beside them, one event in a hundred, are
always changes.
"""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

from bench.events import Payloads, asset, producer, send
from bench.findings import BenchError, Finding, Goal, Outcome, Round, at_most
from bench.parts import INSIDE, LAKE, PARTS, seconds_by_part, seconds_inside
from bench.run import Run
from bench.stack import BenchStack, spent
from bench.steady import steady
from bench.warm_up import MICROSECONDS, warm_up

HELD = {"LILY_LAKE__TRIGGER_SECONDS": str(30 * 24 * 3600)}
IDLE_SECONDS = 10.0
Cost = dict[str, float]  # µs per event, by part


class Load(NamedTuple):
    name: str  # of the keys in the results; that of plain changes is empty
    what: str
    changed: float
    goal: Goal | None = None  # µs of all parts, without the lake
    lake_goal: Goal | None = None
    whole_goal: Goal | None = None  # with the lake


CHANGES = Load("", "event", 1.0, at_most(90.0), at_most(20.0))
UNCHANGED = Load("unchanged_", "event that changes nothing", 0.0, at_most(30.0), whole_goal=at_most(30.0))
READ_AGAIN = Load("read_again_", "event of a source read again, 5 % changed", 0.05)
LOADS = (CHANGES, UNCHANGED, READ_AGAIN)


def measure(run: Run) -> Outcome:
    run.restart(HELD).wait_first_lake_commit()
    warm_alone, alone = _loads(run, BenchStack.settle_hot_lane, _without_lake)
    run.restart()
    warm, whole = _loads(run, BenchStack.settle_lake, _with_lake)
    rounds = [_numbers(one, other, alone) for one, other in zip(alone, whole, strict=True)]
    sizes = run.sizes
    detail = {"events_per_second": sizes.rate, "seconds": sizes.steady_seconds, "assets": sizes.pool, **warm}
    detail |= {f"without_lake_{name}": value for name, value in warm_alone.items()}
    return Outcome([finding for load in LOADS for finding in _findings(rounds, load)], rounds, detail)


def _loads(
    run: Run, rest: Callable[[BenchStack], None], measured: Callable[[Run, BenchStack, Load], Cost]
) -> tuple[dict[str, float], list[dict[str, Cost]]]:
    """How the warm-up ended, and for each round what each load cost."""
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    warm = warm_up(run, stack, lambda: rest(stack))
    rounds: list[dict[str, Cost]] = [{} for _ in range(sizes.rounds)]
    for load in LOADS:
        if load is UNCHANGED:
            _state_the_same(stack, sizes.pool)
        for number in run.rounds():
            run.say(f"{sizes.rate:,} events/s for {sizes.steady_seconds:g} s, {load.changed:.0%} changed")
            rest(stack)
            rounds[number - 1][load.name] = measured(run, stack, load)
    return warm, rounds


def _state_the_same(stack: BenchStack, pool: int) -> None:
    """So that what is stated again with this number changes nothing."""
    log = producer(stack.kafka)
    send(log, Payloads(map(asset, range(pool)), changed=0.0), pool)
    log.flush(60)
    stack.settle()


def _without_lake(run: Run, stack: BenchStack, load: Load) -> Cost:
    """Raises BenchError if the lake has worked all the same."""
    commits, before = stack.lake_commits(), _seconds(stack)
    _window(run, stack, load)
    after = _seconds(stack)
    stack.settle_hot_lane()
    if stack.lake_commits() != commits:
        raise BenchError("a batch of the lake fell into the window")
    return spent(before, after, per=_events(run))


def _with_lake(run: Run, stack: BenchStack, load: Load) -> Cost:
    watched = _seconds(stack)
    time.sleep(IDLE_SECONDS)
    before = _seconds(stack)
    idle = spent(watched, before, per=IDLE_SECONDS)
    _window(run, stack, load)
    ended = time.monotonic()
    stack.settle_lake()
    after, rest = _seconds(stack), time.monotonic() - ended
    return {part: cost - idle[part] * rest / _events(run) for part, cost in spent(before, after, _events(run)).items()}


def _window(run: Run, stack: BenchStack, load: Load) -> None:
    sizes = run.sizes
    steady(stack, pool=sizes.pool, rate=sizes.rate, seconds=sizes.steady_seconds, changed=load.changed)
    stack.settle()


def _events(run: Run) -> float:
    """Millions of them, so that a cost is in µs."""
    return run.sizes.rate * run.sizes.steady_seconds / MICROSECONDS


def _seconds(stack: BenchStack) -> Cost:
    return seconds_by_part(stack) | seconds_inside(stack)


def _numbers(alone: dict[str, Cost], whole: dict[str, Cost], all_alone: list[dict[str, Cost]]) -> Round:
    found: Round = {}
    for name, cost in whole.items():
        usual = {part: statistics.median(each[name][part] for each in all_alone) for part in PARTS}
        share = {part: cost[part] - usual[part] for part in PARTS}
        found |= {
            f"{name}total": sum(alone[name][part] for part in PARTS),
            f"{name}whole": sum(cost[part] for part in PARTS),
            f"{name}lake": sum(share.values()),
            f"{name}lake_by_niceness": cost[LAKE],
            **{f"{name}{part}": alone[name][part] for part in (*PARTS, *INSIDE)},
            **{f"{name}lake_{part}": value for part, value in share.items()},
        }
    return found


def _findings(rounds: list[Round], load: Load) -> list[Finding]:
    def found(what: str, name: str, goal: Goal | None = None) -> Finding:
        return Finding(what=what, goal=goal, unit="µs", values=[float(one[f"{load.name}{name}"]) for one in rounds])

    what = f"processor time per {load.what}"
    return [
        found(f"{what}, all parts, without the lake", "total", load.goal),
        *(found(f"of it: {part}", part) for part in PARTS),
        *(found(f"of it, in {place}", place) for place in INSIDE if place != LAKE),
        found(f"the lake's share per {load.what}", "lake", load.lake_goal),
        *(found(f"of it: {part}", f"lake_{part}") for part in PARTS),
        found("Python processes of the lake, by their niceness", "lake_by_niceness"),
        found(f"{what}, with the lake", "whole", load.whole_goal),
    ]
