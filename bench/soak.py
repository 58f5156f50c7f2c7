"""Soak: what grows while the same things are stated for 45 minutes, at 2,000 events per second.

A generator process (`soak_load.py`) restates the same tables in the hot lane and the same columns in the bulk lane with
5 % changed, and over HTTP the same edges and the next OpenLineage runs of the same jobs; tags are put on and removed.
Every minute one look (`soak_sizes.py`): memory by part, files and bytes of the lake, every table and index of
PostgreSQL, its WAL, Kafka's disk, and the lag. Nothing new is stated after the first turns, so what Lily keeps of the
state should not grow; what it keeps of the history does, and is cut by age, which takes longer than a soak.

The trend compares the last third with what was before (`trend.py`). `flat` and `bounded` are what they say; what grows
names what bounds it in the end, as docs/operations.md has it. What grows without such a bound is counted, and the goal
is that there is none. It is measured only if it is named: `python -m bench soak`. All looks are in the results file.
"""

import json
import subprocess
import sys
import time
from typing import Any

from bench.columns import fill
from bench.findings import BenchError, Finding, Outcome, at_most
from bench.run import Run
from bench.soak_sizes import INDEX, KAFKA, LAG, MEMORY, TABLE, TABLES, WAL, Look, look
from bench.stack import BenchStack
from bench.trend import GROWS, trend
from lily.store.lake.tables import ASSETS, EVENTS

MEGABYTE = 1e6
SMALL = 2 * MEGABYTE  # a table or an index that never was larger is not listed, and what differs by less does not grow
FEW = 20  # files
BEHIND = 5_000  # events: two seconds and a half of the load
_BY_CHANGES, _A_DAY = "LILY_RETENTION__CHANGE_DAYS", "a day after they were published"
BOUNDS = {
    "changes": _BY_CHANGES,
    "edge_changes": _BY_CHANGES,
    "decisions": _BY_CHANGES,
    "propagations": "LILY_RETENTION__PROPAGATION_DAYS",
    "dead_letters": "LILY_RETENTION__DEAD_LETTER_DAYS",
    "lake_batches": "LILY_RETENTION__LAKE_BATCH_DAYS",
    "derived_tag_history": "LILY_RETENTION__POLICY_HISTORY_DAYS",
    "access_history": "LILY_RETENTION__POLICY_HISTORY_DAYS",
    "audit": "LILY_RETENTION__AUDIT_DAYS",
    "batches": _A_DAY,
    "propagated": _A_DAY,
    "announcements": _A_DAY,
    "rule_statements": _A_DAY,
    "incident_statements": _A_DAY,
    "fact_changes": "an hour",
    "runs": "1,000 runs of each job",
}
BOUNDS_ELSEWHERE = {
    KAFKA: "the retention of the topics, 7 days",
    WAL: "max_wal_size, 2 GB",
    TABLES: "as its tables",
    f"lake {EVENTS}": "every event, for ever",
    f"lake {ASSETS}: files on disk": "LILY_LAKE__KEEP_HOURS",
    f"lake {ASSETS}: bytes on disk": "LILY_LAKE__KEEP_HOURS",
}


def measure(run: Run) -> Outcome:
    sizes, stack = run.sizes, run.restart()
    run.filled(sizes.pool)
    run.say(f"{sizes.pool:,} columns")
    fill(stack, sizes.pool)
    looks, load = _watched(run, stack)
    listed = [name for name in looks[-1] if _is_listed(name, looks)]
    findings = [_finding(name, looks) for name in listed]
    unbounded = [found.what for found in findings if found.trend == GROWS]
    goal = Finding(what="sizes that grow without a documented bound", goal=at_most(0), values=[len(unbounded)])
    detail: dict[str, float] = {"minutes": sizes.soak_minutes, "events_per_second": sizes.soak_rate}
    detail |= {"tables": sizes.pool, "columns": sizes.pool}
    return Outcome([goal, *findings], [{"load": load, "unbounded": unbounded}, *looks], detail)


def _watched(run: Run, stack: BenchStack) -> tuple[list[Look], dict[str, Any]]:
    """The looks, and what the generator did. Raises BenchError if it failed or could not keep the rate."""
    sizes, looks = run.sizes, list[Look]()
    seconds = sizes.soak_minutes * 60
    order = {"kafka": stack.kafka, "url": stack.url, "token": stack.token, "rate": sizes.soak_rate}
    order |= {"seconds": seconds, "pool": sizes.pool, "columns": sizes.pool}
    command = [sys.executable, "-m", "bench.soak_load", json.dumps(order)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as generator:
        try:
            assert generator.stdin
            assert generator.stdout
            if generator.stdout.readline().strip() != "ready":
                raise BenchError("the load did not start")
            generator.stdin.write("go\n")
            generator.stdin.flush()
            began = time.monotonic()
            for number in run.rounds(int(seconds // sizes.soak_every)):
                time.sleep(max(0.0, began + number * sizes.soak_every - time.monotonic()))
                if generator.poll():
                    raise BenchError(f"the load ended with {generator.returncode} after {len(looks)} looks")
                looks.append(look(stack))
                run.say(f"{looks[-1][f'{MEMORY}all'] / MEGABYTE:,.0f} MB, {_lag(looks[-1]):,.0f} events behind")
            done: dict[str, Any] = json.loads(generator.stdout.read() or "{}")
        finally:
            generator.kill()
    if not done or done["unsent"]:
        raise BenchError(f"the load failed: {done}")
    return looks, done


def _lag(seen: Look) -> float:
    return sum(value for name, value in seen.items() if name.startswith(LAG))


def _is_listed(name: str, looks: list[Look]) -> bool:
    """Everything but small tables and indexes, which are in the results all the same."""
    return not name.startswith((TABLE, INDEX)) or max(seen.get(name, 0.0) for seen in looks) > SMALL


def _finding(name: str, looks: list[Look]) -> Finding:
    values = [seen.get(name, 0.0) for seen in looks]
    is_number, is_lag = name.endswith(("files", "included")), name.startswith(LAG)
    direction = trend(values, BEHIND if is_lag else FEW if is_number else SMALL)
    if direction == GROWS and (bound := bound_of(name)):
        direction = f"{GROWS}, kept: {bound}"
    unit = "events" if is_lag else "files" if is_number else "MB"
    shown = values if unit != "MB" else [value / MEGABYTE for value in values]
    return Finding(what=name, unit=unit, values=shown, trend=direction)


def bound_of(name: str) -> str:
    """What bounds a size that grows with the history; empty if nothing does."""
    if name.startswith((TABLE, INDEX)):
        return BOUNDS.get(name.removeprefix(TABLE).rpartition(" of ")[2], "")
    return next((bound for start, bound in BOUNDS_ELSEWHERE.items() if name.startswith(start)), "")
