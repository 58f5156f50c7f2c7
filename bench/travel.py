"""Travel: from a committed tag to everything downstream tagged and readable; and the hot lane while a tag propagates.

A person tags the root of a tree (see `propagation.py`) over HTTP. The clock starts when the change of the root was
committed, by the change log, and stops twice: when propagation was done, by the write's receipt, and when a GET of
the last asset first showed the tag. Polls come every few milliseconds, through the same API. Afterwards all assets
are read, and a round counts only if each has the tag. Then the tag is removed, and the same is timed again. For the
hot lane (as in `flood.py`), a tag is put on and removed again, at a steady pace that does not depend on how fast it
travels, and reaches ten times as many assets, while tracers and a steady load of another tenant continue; against the
same load without propagation.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import httpx

from bench import graphs
from bench.findings import BenchError, Finding, Outcome, Round, at_most, column, percentile, ratios
from bench.run import Run
from bench.steady import steady
from bench.tenants import BenchTenant, tenant

TAG = "PII"
LOOK = 0.01
PATIENCE = 120.0
PAGE = 1_000
HEAD_START = 1.0  # seconds of travelling before the window opens
PACE = 2.0  # seconds from one journey's start to the next one's, or as long as it takes if that is longer
_COMMITTED = """
select extract(epoch from max(committed_at))::float8 from changes where tenant_id = %s and asset_id = %s
"""


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    with tenant(stack, "travel") as made:
        run.say("trees")
        trees = [graphs.tree(f"tree{count}", count) for count in (sizes.reached, sizes.reached_many)]
        for tree in trees:
            graphs.load(made, *tree)
        (few, _), (many, _) = trees
        with made.client() as client:
            _travel(made, client, few)  # once before it counts
            rounds = [_round(run, made, client, few) for _ in run.rounds()]
        busy = [_hot_round(run, made, many[0]) for _ in run.rounds(sizes.flood_rounds)]
    detail = {"assets": sizes.reached, "many_assets": sizes.reached_many, "seconds": sizes.flood_seconds}
    return Outcome([*_findings(rounds, sizes.reached), *_hot_findings(busy, run)], [*rounds, *busy], detail)


def _round(run: Run, made: BenchTenant, client: httpx.Client, names: list[str]) -> Round:
    run.say(f"a tag to {len(names) - 1:,} assets, and back")
    made.stack.settle()
    return _travel(made, client, names)


def _travel(made: BenchTenant, client: httpx.Client, names: list[str]) -> Round:
    root, last = made.id(names[0]), made.id(names[-1])
    posted = time.time()
    answer = client.post(f"/metadata/{root}/tags", json={"tag": TAG}).raise_for_status()
    readable = _when(lambda: _has(client, last), "the last asset does not show the tag")
    receipt = _finished(client, answer.headers["lily-receipt"])
    _require_all(made, client, names[1:], receipt)
    read = time.time()
    committed = _committed(made, root)
    removed = client.delete(f"/metadata/{root}/tags/{TAG}").raise_for_status()
    gone = _when(lambda: not _has(client, last), "the last asset keeps the tag")
    _finished(client, removed.headers["lily-receipt"])
    return {
        "to_finished": datetime.fromisoformat(receipt["finished"]).timestamp() - committed,
        "to_readable": readable - committed,
        "posted_to_readable": readable - posted,
        "posted_to_all_read": read - posted,
        "removed_to_gone": gone - _committed(made, root),
    }


def _has(client: httpx.Client, asset: str) -> bool:
    tags: list[str] = client.get(f"/metadata/{asset}").raise_for_status().json()["tags"]["propagated"]
    return TAG in tags


def _committed(made: BenchTenant, asset: str) -> float:
    row = made.stack.database.execute(_COMMITTED, [made.name, asset]).fetchone()
    assert row
    return float(row[0])


def _finished(client: httpx.Client, receipt: str) -> dict[str, Any]:
    """The receipt, once its write has travelled."""
    told: dict[str, Any] = {}

    def settled() -> bool:
        told.update(client.get(f"/propagations/{receipt}").raise_for_status().json())
        return bool(told["state"] != "pending")

    _when(settled, "the receipt is still pending")
    return told


def _when(seen: Callable[[], bool], complaint: str) -> float:
    """The time at which it was first seen."""
    deadline = time.monotonic() + PATIENCE
    while not seen():
        if time.monotonic() > deadline:
            raise BenchError(f"{complaint} after {PATIENCE:.0f} seconds")
        time.sleep(LOOK)
    return time.time()


def _require_all(made: BenchTenant, client: httpx.Client, names: list[str], receipt: dict[str, Any]) -> None:
    """Raises BenchError unless the receipt counts them all and each of them has the tag."""
    if receipt["reached"] != len(names):
        raise BenchError(f"the receipt says that {receipt['reached']} of {len(names)} assets were reached")
    for start in range(0, len(names), PAGE):
        asked = [made.id(name) for name in names[start : start + PAGE]]
        items = client.post("/metadata/batch-get", json={"ids": asked}).raise_for_status().json()["items"]
        if sum(TAG in item["tags"]["propagated"] for item in items) != len(asked):
            raise BenchError("an asset does not show the tag that the last one has")


def _hot_round(run: Run, made: BenchTenant, root: str) -> Round:
    found: Round = {}
    for rate in run.sizes.flood_hot_rates:
        made.stack.settle_lake()
        run.say(f"quiet, {rate:,} events/s")
        found[f"quiet_{rate}_p99"] = _p99(run, made, rate)
        made.stack.settle_lake()
        run.say(f"a tag travels, {rate:,} events/s")
        with _travelling(made, root) as times:
            found[f"busy_{rate}_p99"] = _p99(run, made, rate)
        found[f"busy_{rate}_travel_seconds"] = times
    return found


def _p99(run: Run, made: BenchTenant, rate: int) -> float:
    seen = steady(made.stack, pool=run.sizes.pool, rate=rate, seconds=run.sizes.flood_seconds)
    return percentile(seen.latencies, 99)


@contextmanager
def _travelling(made: BenchTenant, root: str) -> Iterator[list[float]]:
    """While a tag is put on and taken off again, a journey each `PACE`; the list gets the seconds of each journey, from
    the request to the end of propagation."""
    times: list[float] = []
    failed: list[Exception] = []
    stop = threading.Event()

    def work() -> None:
        try:
            with made.client() as client:
                while not stop.is_set():
                    times.extend(_there_and_back(client, made.id(root)))
        except (httpx.HTTPError, BenchError) as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    time.sleep(HEAD_START)
    try:
        yield times
    finally:
        stop.set()
        thread.join()
    if failed:
        raise BenchError(f"the tag did not travel: {failed[0]}")


def _there_and_back(client: httpx.Client, root: str) -> Iterator[float]:
    for method, path, body in (("POST", "tags", {"tag": TAG}), ("DELETE", f"tags/{TAG}", None)):
        began = time.time()
        answer = client.request(method, f"/metadata/{root}/{path}", json=body).raise_for_status()
        _finished(client, answer.headers["lily-receipt"])
        took = time.time() - began
        yield took
        time.sleep(max(0.0, PACE - took))


def _findings(rounds: list[Round], count: int) -> list[Finding]:
    what = f"tag committed to {count:,} assets downstream"
    return [
        Finding(what=f"{what} tagged", goal=at_most(0.4), unit="s", values=column(rounds, "to_finished")),
        Finding(what=f"{what} readable over HTTP", goal=at_most(0.4), unit="s", values=column(rounds, "to_readable")),
        Finding(what="the same from the POST on", unit="s", values=column(rounds, "posted_to_readable")),
        Finding(what="the same until each was read", unit="s", values=column(rounds, "posted_to_all_read")),
        Finding(what="removal committed to the tag gone there", unit="s", values=column(rounds, "removed_to_gone")),
    ]


def _hot_findings(rounds: list[Round], run: Run) -> list[Finding]:
    found = []
    for rate in run.sizes.flood_hot_rates:
        what = f"hot lane at {rate:,} events/s while a tag travels to {run.sizes.reached_many:,} assets and back: p99"
        against = ratios(rounds, f"busy_{rate}_p99", f"quiet_{rate}_p99")
        goal = at_most(1.5) if rate == max(run.sizes.flood_hot_rates) else None
        times = [max(numbers[f"busy_{rate}_travel_seconds"]) for numbers in rounds]
        found += [
            Finding(what=what, against="quiet", goal=at_most(2), values=against),
            Finding(what=what, goal=goal, unit="s", values=column(rounds, f"busy_{rate}_p99")),
            Finding(what=f"the slowest such journey meanwhile, {rate:,} events/s", unit="s", values=times),
        ]
    return found
