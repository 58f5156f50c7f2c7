"""OpenLineage: events per second until their contents are readable.

Eight connections post single events of about 5.5 KB (`openlineage_events.py`): three datasets of ten columns, column
lineage. First each event is the completed run of a new job with datasets of its own, so that every job, dataset,
column and edge is new; then each job's next run states the same again. The clock starts with the first byte and stops
when all jobs, datasets and edges, those of columns included, are readable, and again when the columns are readable
from the lake, which may wait some seconds for its next batch. Marquez's figure is from an earlier run on two such
cores with eight clients, not from this one.

In the first minutes the JVMs spend about half of their time on compiling themselves. So jobs of another tenant come
first, in windows, until three windows in a row took about the same processor time per event, or there were twelve;
the time of the first and of the last window is part of the results.
"""

from collections.abc import Sequence

from bench.findings import BenchError, Finding, Outcome, Round, at_least, column
from bench.http_load import request, send_all
from bench.openlineage_events import ASSETS as ASSETS_EACH
from bench.openlineage_events import COLUMNS, EDGES, event, table
from bench.parts import PARTS, seconds_by_part
from bench.run import Run
from bench.stack import spent
from bench.tenants import BenchTenant, tenant
from bench.warm_up import MICROSECONDS
from lily.bus.topics import ASSETS, ASSETS_BULK, LINEAGE_INTAKE
from lily.store.postgres.access.administration import create_token

CONNECTIONS = 8
MARQUEZ = 36.0  # events/s
PATIENCE = 600.0
PRODUCER = ["lineage:write", "metadata:read", "metadata:write"]  # as docs/how-to has it
WINDOW, MOST_WINDOWS = 500, 12  # events of the warm-up: new jobs, and as many next runs
STEADY = 1.1  # the dearest of three windows that agree, compared with the cheapest
KINDS = ("new", "again")
_STORED = """
select (select count(*) from assets where tenant_id = %(tenant)s),
       (select count(*) from edges where tenant_id = %(tenant)s and not is_deleted)
"""


def measure(run: Run) -> Outcome:
    count = run.sizes.openlineage_events
    windows = _warm_up(run, min(WINDOW, count))
    rounds = []
    for _ in run.rounds(run.sizes.lake_rounds):
        with tenant(run.stack, "openlineage") as made:
            rounds.append(_round(run, made, count))
    detail: dict[str, float] = {"events": count, "connections": CONNECTIONS, "event_bytes": len(event(count))}
    detail |= {"warm_up_windows": len(windows), "processor_first": windows[0], "processor_warm": windows[-1]}
    return Outcome(_findings(rounds), rounds, detail)


def _warm_up(run: Run, size: int) -> list[float]:
    """The processor time per event, in µs, of each window."""
    found: list[float] = []
    with tenant(run.stack, "openlineage-warm-up") as made:
        while len(found) < MOST_WINDOWS and not is_steady(found):
            run.say(f"warm-up, window {len(found) + 1} of at most {MOST_WINDOWS}")
            before, first = seconds_by_part(run.stack), len(found) * size
            for _ in KINDS:
                send_all(run.stack.url, _requests(made, first, size), connections=CONNECTIONS, seconds=PATIENCE)
                _wait_hot(made)
            found.append(sum(spent(before, seconds_by_part(run.stack), per=len(KINDS) * size / MICROSECONDS).values()))
        run.stack.settle_lake()
    return found


def is_steady(windows: Sequence[float]) -> bool:
    last = windows[-3:]
    return len(last) == 3 and max(last) <= STEADY * min(last)


def _requests(made: BenchTenant, first: int, count: int) -> list[str]:
    token = create_token(made.stack.database_url, made.name, PRODUCER, user="producer")
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    return [
        request("POST", "/api/v1/lineage", headers, event(number).decode()) for number in range(first, first + count)
    ]


def _wait_hot(made: BenchTenant) -> float:
    """When all jobs, datasets and edges could be read, as the clock then said."""
    stack = made.stack
    return max(stack.wait_applied(stack.ends(topic), topic) for topic in (ASSETS, LINEAGE_INTAKE))


def _round(run: Run, made: BenchTenant, count: int) -> Round:
    found: Round = {}
    for kind in KINDS:
        run.say(f"{count:,} events of {'new jobs' if kind == 'new' else 'their next runs'}")
        found |= {f"{kind}_{name}": value for name, value in _sent(made, count).items()}
        _require(made, count)
    return found


def _sent(made: BenchTenant, count: int) -> Round:
    stack = made.stack
    requests = _requests(made, 0, count)
    stack.settle_lake()
    before = seconds_by_part(stack)
    seen = send_all(stack.url, requests, connections=CONNECTIONS, seconds=PATIENCE)
    began = seen["began"]
    hot = _wait_hot(made)
    cold = stack.wait_applied(stack.ends(ASSETS_BULK), ASSETS_BULK)
    parts = spent(before, seconds_by_part(stack), per=count / MICROSECONDS)
    return {
        "processor": sum(parts.values()),
        **{f"processor_{part}": value for part, value in parts.items()},
        "accepted": seen["per_second"],
        "p99_ms": seen["p99_ms"],
        "readable": count / (hot - began),
        "columns_readable": count / (max(hot, cold) - began),
        "run": seen,
    }


def _require(made: BenchTenant, count: int) -> None:
    """Raises BenchError unless everything is there: jobs, datasets and edges, and the columns of the last one."""
    stored = made.stack.database.execute(_STORED, {"tenant": made.name}).fetchone()
    if stored != (wanted := (count * ASSETS_EACH, count * EDGES)):
        raise BenchError(f"{stored} assets and edges are stored instead of {wanted}")
    names = [f"{table(count - 1, place)}.{name}" for place in range(ASSETS_EACH - 1) for name in COLUMNS]
    with made.client() as client:
        asked = {"ids": [made.id(name) for name in names]}
        items = client.post("/metadata/batch-get", json=asked).raise_for_status().json()["items"]
    if len(items) != len(names):
        raise BenchError(f"{len(items)} of {len(names)} columns can be read")


def _findings(rounds: list[Round]) -> list[Finding]:
    goal, unit = at_least(500), "events/s"
    against = "Marquez on two such cores, an earlier run: 36/s"
    over_marquez = [value / MARQUEZ for value in column(rounds, "new_readable")]
    names = {"new": "events of new jobs", "again": "the next runs of these jobs"}
    found = [Finding(what="events of new jobs, readable", against=against, goal=at_least(15), values=over_marquez)]
    for kind, what in names.items():
        found += [
            Finding(what=f"{what}, readable", goal=goal, unit=unit, values=column(rounds, f"{kind}_readable")),
            Finding(
                what=f"{what}, columns readable too",
                goal=goal,
                unit=unit,
                values=column(rounds, f"{kind}_columns_readable"),
            ),
            Finding(what=f"{what}, accepted", unit=unit, values=column(rounds, f"{kind}_accepted")),
            Finding(what=f"{what}: p99 of an answer", unit="ms", values=column(rounds, f"{kind}_p99_ms")),
            Finding(
                what=f"{what}: processor time per event, all parts",
                unit="µs",
                values=column(rounds, f"{kind}_processor"),
            ),
            *(
                Finding(what=f"{what}: of it {part}", unit="µs", values=column(rounds, f"{kind}_processor_{part}"))
                for part in PARTS
            ),
        ]
    return found
