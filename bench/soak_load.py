"""The soak's load, a process of its own: `python -m bench.soak_load '{"kafka": …, "url": …, "rate": …}'`.

Of so many events per second, a quarter are columns in the bulk lane and the rest, but for what comes over HTTP, tables
in the hot lane, both restated again and again with 5 % changed, a change at each turn. Over HTTP, in a thread of its
own: every second a body of edges that are known after the first turn, two OpenLineage events, each the next run of one
of some jobs, and two tags put on and the two of the second before taken off. It prepares, says `ready`, waits for a
line on its standard input, and prints as JSON what it did. It fails if a call fails.
"""

import json
import random
import sys
import threading
import time
from collections import Counter
from itertools import count

import httpx
from confluent_kafka import Producer

from bench.columns import COLUMNS
from bench.columns import column as column_of
from bench.events import Asset, Payloads, asset, producer, send
from bench.graphs import TYPE
from bench.openlineage_events import ASSETS as ASSETS_EACH
from bench.openlineage_events import COLUMNS as COLUMNS_EACH
from bench.openlineage_events import DATASETS, EDGES, event
from lily.bus.topics import ASSETS, ASSETS_BULK

CHANGED = 0.05
SLICE_SECONDS = 0.05
TAG = "soak"
EDGES_AT_ONCE, BODIES, JOBS, RUNS, TAGS = 50, 100, 50, 2, 2  # of one second, but for BODIES and JOBS
STATEMENTS = EDGES_AT_ONCE + RUNS * (ASSETS_EACH + EDGES + DATASETS * len(COLUMNS_EACH)) + 2 * TAGS


def main() -> None:
    order = json.loads(sys.argv[1])
    rate, seconds, pool = order["rate"], order["seconds"], order["pool"]
    tables, columns = tables_and_columns(rate)
    load = {
        ASSETS: (Payloads(map(asset, range(pool)), changed=CHANGED), tables),
        ASSETS_BULK: (Payloads(map(column_of, range(order["columns"])), COLUMNS, changed=CHANGED), columns),
    }
    log = producer(order["kafka"])
    log.list_topics(timeout=15)
    print("ready", flush=True)
    sys.stdin.readline()
    calls = Calls(order["url"], order["token"], pool, seconds)
    cpu, began = time.process_time(), time.time()
    sent = _keep_rates(log, load, seconds)
    calls.join()
    unsent, took = log.flush(60), time.time() - began
    cores = (time.process_time() - cpu) / took
    print(json.dumps({**sent, **calls.done, "unsent": unsent, "seconds": took, "cpu_cores": cores}))


def tables_and_columns(rate: int) -> tuple[int, int]:
    """How many of the events per second are tables and columns."""
    columns = rate // 4
    return max(rate - columns - STATEMENTS, 1), columns


def _keep_rates(log: Producer, load: dict[str, tuple[Payloads, int]], seconds: float) -> Counter[str]:
    began, sent = time.time(), Counter[str]()
    while (now := time.time()) < began + seconds:
        for topic, (payloads, rate) in load.items():
            due = int((now - began) * rate) - sent[topic]
            send(log, payloads, due, topic)
            sent[topic] += due
        time.sleep(SLICE_SECONDS)
    return sent


class Calls:
    """What comes over HTTP, a turn per second; late turns follow each other until they have caught up."""

    def __init__(self, url: str, token: str, pool: int, seconds: float) -> None:
        self._url, self._headers, self._pool = url, {"authorization": f"Bearer {token}"}, pool
        self._until = time.time() + seconds
        self._failed: list[Exception] = []
        self.done: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Raises what a call has raised."""
        self._thread.join()
        if self._failed:
            raise self._failed[0]

    def _work(self) -> None:
        chance, tagged, due = random.Random(1), list[Asset](), time.time()
        with httpx.Client(base_url=self._url, headers=self._headers, timeout=120) as client:
            try:
                for turn in count():
                    if due >= self._until:
                        return
                    self._call(client, "POST", "/lineage", {"edges": _edges(turn % BODIES, self._pool)})
                    for run in range(RUNS):
                        job = (turn * RUNS + run) % JOBS
                        self._call(client, "POST", "/api/v1/lineage", json.loads(event(job)))
                    now = [asset(chance.randrange(self._pool)) for _ in range(TAGS)]
                    for of in now:
                        self._call(client, "POST", f"/metadata/{of.id}/tags", {"tag": TAG})
                    for of in tagged:
                        self._call(client, "DELETE", f"/metadata/{of.id}/tags/{TAG}")
                    tagged, due = now, due + 1
                    time.sleep(max(0.0, due - time.time()))
            except httpx.HTTPError as error:
                self._failed.append(error)

    def _call(self, client: httpx.Client, method: str, path: str, body: object = None) -> None:
        client.request(method, path, json=body).raise_for_status()
        self.done["calls"] += 1


def _edges(turn: int, pool: int) -> list[dict[str, str]]:
    """From tables to tables with greater numbers, so that there is no cycle; the same for the same turn."""
    chance = random.Random(turn)
    pairs = (sorted(chance.sample(range(pool), 2)) for _ in range(EDGES_AT_ONCE))
    names = ((asset(start).qualified_name, asset(end).qualified_name) for start, end in pairs)
    return [{"from": start, "to": end, "relationship_type": TYPE} for start, end in names]


if __name__ == "__main__":
    main()
