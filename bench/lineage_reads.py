"""GET /lineage/{id} at depth 20: alone in the catalogue, and among a million other assets and edges.

A dataset with 400 or 2,000 downstream of it in 20 layers, each derived from three of the layer above and with ten
columns, each derived from one column of one of those; the columns are only in the lake, as after a bulk load. One
connection requests the datasets, the lineage of one column, and with `columns=true` both together, one call after the
other. A call requests the largest page and, if the response is longer, follows the cursors, so that a time is that of
the whole graph. The first page with the default size is reported too. Then the other assets are added to the same
tenant, and the same is requested again: that side cannot alternate with the first.
"""

import time
from typing import NamedTuple
from urllib.parse import quote

import httpx
import orjson

from bench import graphs
from bench.findings import BenchError, Finding, Goal, Outcome, Round, at_most, column, percentile, ratios
from bench.run import Run
from bench.tenants import BenchTenant, tenant

DEPTH, FAN_IN, COLUMNS = 20, 3, 10
GOALS = ((10, 50), (40, 200))  # milliseconds for the smaller and the larger graph: datasets, and all columns too
PAGE = 50_000
FEWEST = 5  # calls of a window, however long they take
SLOWER = at_most(1.3)


class Read(NamedTuple):
    """One kind of read of one graph: what it asks for, and how many assets it must answer; None for a first page."""

    name: str
    about: str
    path: str
    assets: int | None
    goal: Goal | None = None


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    with tenant(run.stack, "lineage") as made:
        reads = [
            read
            for count, (alone, whole) in zip(sizes.graphs, GOALS, strict=True)
            for read in _graph(run, made, count, at_most(alone), at_most(whole))
        ]
        run.say("the lake takes the columns")
        run.stack.settle_lake()
        with made.client() as client:
            alone = _rounds(run, client, reads)
            run.say(f"{sizes.others:,} others")
            _others(made, sizes.others)
            among = _rounds(run, client, reads)
    rounds = [
        {f"alone_{name}": value for name, value in one.items()}
        | {f"among_{name}": value for name, value in other.items()}
        for one, other in zip(alone, among, strict=True)
    ]
    detail: dict[str, float] = {"depth": DEPTH, "columns_each": COLUMNS, "others": sizes.others}
    return Outcome(_findings(reads, rounds, sizes.others), rounds, detail)


def _graph(run: Run, made: BenchTenant, count: int, goal: Goal, goal_with_columns: Goal) -> list[Read]:
    run.say(f"a graph of {count:,} datasets")
    names, links = graphs.layers(f"g{count}", count, DEPTH, FAN_IN)
    graphs.load(made, names, links)
    columns = [(f"{name}.c{number}", name) for name in names for number in range(COLUMNS)]
    above = {end: start for start, end in reversed(links)}
    graphs.link(made, [(f"{above[name]}{column[len(name) :]}", column) for column, name in columns if name in above])
    graphs.place(made, columns)
    _send_columns(made, columns)
    start, path = made.id(names[0]), f"direction=downstream&depth={DEPTH}"
    whole = f"{path}&limit={PAGE}"
    around = f"{count:,} datasets"
    one_column, everything = made.id(columns[0][0]), f"{around} with {COLUMNS} columns each"
    return [
        Read(f"datasets_{count}", f"lineage of {around}", f"/lineage/{start}?{whole}", count + 1, goal),
        Read(
            f"column_{count}", f"lineage of a column over {around}", f"/lineage/{one_column}?{whole}", count + 1, goal
        ),
        Read(
            f"columns_{count}",
            f"lineage of {everything}",
            f"/lineage/{start}?{whole}&columns=true",
            (count + 1) * (COLUMNS + 1),
            goal_with_columns,
        ),
        Read(f"page_{count}", f"the first page of {everything}", f"/lineage/{start}?{path}&columns=true", None),
    ]


def _send_columns(made: BenchTenant, columns: list[tuple[str, str]]) -> None:
    rows = (
        orjson.dumps(
            {
                "entity_type": "column",
                "attributes": {"name": name.rpartition(".")[2], "qualified_name": name, "parent": parent},
            }
        )
        for name, parent in columns
    )
    with made.client() as client:
        headers = {"content-type": "application/x-ndjson"}
        answer = client.post("/ingest-metadata/bulk", content=b"\n".join(rows), headers=headers)
        if not answer.is_success or answer.json()["rejected"]:
            raise BenchError(f"the bulk door answered {answer.status_code}: {answer.text[:500]}")


def _others(made: BenchTenant, count: int) -> None:
    """As many assets, each with an edge from one before it."""
    names = [f"others.s{number % 997}.o{number}" for number in range(count)]
    graphs.load(made, names, ((names[number // 7], names[number]) for number in range(1, count)))


def _rounds(run: Run, client: httpx.Client, reads: list[Read]) -> list[Round]:
    for read in reads:
        _call(client, read)  # once before it counts
    return [_round(run, client, reads) for _ in run.rounds()]


def _round(run: Run, client: httpx.Client, reads: list[Read]) -> Round:
    found: Round = {}
    for read in reads:
        run.say(read.about)
        times = _window(client, read, run.sizes.http_seconds)
        found |= {f"{read.name}_p50": percentile(times, 50), f"{read.name}_p99": percentile(times, 99)}
        found[f"{read.name}_calls"] = len(times)
    return found


def _window(client: httpx.Client, read: Read, seconds: float) -> list[float]:
    until, times = time.monotonic() + seconds, list[float]()
    while len(times) < FEWEST or time.monotonic() < until:
        times.append(_call(client, read))
    return times


def _call(client: httpx.Client, read: Read) -> float:
    """The milliseconds until the last byte of the last page; reading the JSON for the cursor is not counted."""
    spent, found, cursor = 0.0, 0, ""
    while True:
        began = time.perf_counter()
        answer = client.get(read.path + cursor)
        spent += time.perf_counter() - began
        page = orjson.loads(answer.raise_for_status().content)
        found += len(page["nodes"])
        if read.assets is None or not page["next_cursor"]:
            break
        cursor = f"&cursor={quote(page['next_cursor'])}"
    if read.assets is not None and found != read.assets:
        raise BenchError(f"{read.about}: {found} assets were answered instead of {read.assets}")
    return spent * 1000


def _findings(reads: list[Read], rounds: list[Round], others: int) -> list[Finding]:
    found: list[Finding] = []
    for read in reads:
        p50, p99 = (column(rounds, f"alone_{read.name}_{part}") for part in ("p50", "p99"))
        slower = ratios(rounds, f"among_{read.name}_p50", f"alone_{read.name}_p50")
        among = f"{read.about}, among {others:,} others: p50"
        found += [
            Finding(what=f"{read.about}: p50", goal=read.goal, unit="ms", values=p50),
            Finding(what=f"{read.about}: p99", unit="ms", values=p99),
            Finding(what=among, against="alone, earlier in the run", goal=SLOWER, values=slower),
        ]
    return found
