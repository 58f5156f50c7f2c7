"""Sends plain columns with varied names through the bulk lane of a running stack, and times searches over HTTP.

`python -m bench.varied_columns fill DATA_DIR COUNT`, then `python -m bench.varied_columns measure DATA_DIR`. The
columns are those of the tables of `bench.varied_assets`, 20 to a table, so PostgreSQL has the tables and the lake the
columns.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from bench.columns import COLUMNS, PER_TABLE
from bench.events import TENANT, Asset, Payloads, producer, send
from bench.http_load import drive, request
from bench.stack import BenchStack
from bench.varied_assets import SEED, Zipf, rows, word
from lily.bus.topics import ASSETS_BULK
from lily.embedded.bootstrap import admin_token
from lily.embedded.state import load
from lily.model.ids import asset_id

PARTS = ("id", "at", "name", "amount", "code", "key", "total", "flag")
AT_ONCE = 50_000
SECONDS, CONNECTIONS, DIFFERENT = 8, 4, 400


def columns(count: int) -> Iterator[Asset]:
    chance = random.Random(SEED)
    words = Zipf(chance, 20_000)
    for number, (_, _, table, *_) in enumerate(rows(-(-count // PER_TABLE))):
        taken = words.take(PER_TABLE)
        for place in range(min(PER_TABLE, count - number * PER_TABLE)):
            name = f"{word(taken[place] + 30)}_{chance.choice(PARTS)}_{place}"
            yield Asset(asset_id(TENANT, f"{table}.{name}"), f"{table}.{name}", name, str(table))


def fill(data_dir: Path, count: int) -> None:
    stack = _stack(data_dir)
    log = producer(stack.kafka)
    ready = Payloads(columns(count), COLUMNS)
    print(f"{len(ready):,} payloads", flush=True)
    began = time.monotonic()
    send(log, ready, len(ready), ASSETS_BULK)
    log.flush(60)
    stack.wait_applied(stack.ends(ASSETS_BULK), ASSETS_BULK)
    print(f"in the lake after {time.monotonic() - began:.0f} s", flush=True)
    stack.settle_lake()
    print(f"at rest after {time.monotonic() - began:.0f} s", flush=True)


def measure(data_dir: Path, wanted: str = "") -> None:
    stack, chance = _stack(data_dir), random.Random(1)
    names = [of for number, of in enumerate(columns(20_000)) if number % 50 == 0]
    subjects = [row[2] for number, row in enumerate(rows(20_000)) if number % 50 == 1]
    kinds: dict[str, Callable[[int], str]] = {
        "a column by its and its table's name": lambda n: f"q={names[n].name}+{names[n].parent.rpartition('.')[2]}",
        "a column by its name": lambda n: f"q={names[n].name}",
        "a table by its name": lambda n: f"q={str(subjects[n]).rpartition('.')[2]}",
        "a rare word": lambda _: f"q={word(chance.randrange(15_000, 29_000))}",
        "an absent word": lambda _: f"q=xq{word(chance.randrange(15_000, 29_000))}",
        "two words, common and rare": lambda _: (
            f"q={word(chance.randrange(50, 300))}+{word(chance.randrange(9_000, 20_000))}"
        ),
        "a common word": lambda _: f"q={word(chance.randrange(150, 1_500))}",
        "a very common word": lambda _: (
            f"q={chance.choice(['the', 'of', 'analytics', 'sales', 'order', 'fact', 'daily'])}"
        ),
        "a word of the lake alone, by type": lambda _: f"q={chance.choice(PARTS)}&entity_type=column",
        "by owner, by name": lambda _: (
            f"owner={quote(f'team-{word(chance.randrange(1_000) + 100)}@example.com')}&sort=name"
        ),
        "by source, newest first": lambda _: f"data_source=analytics-{chance.randrange(12)}&sort=created_at&order=desc",
        "by tag, by name": lambda _: f"tag={chance.choice(['pii', 'gold', 'finance', 'rare-tag'])}&sort=name",
        "a very common word and a rare tag": lambda _: f"q={chance.choice(['the', 'order'])}&tag=reviewed-2024",
        "a very common word, by name": lambda _: f"q={chance.choice(['the', 'order', 'fact'])}&sort=name",
    }
    paths = {kind: [f"/metadata?{make(n)}" for n in range(DIFFERENT)] for kind, make in kinds.items()}
    mix = [path for each in paths.values() for path in each]
    headers = {"authorization": f"Bearer {stack.token}"}
    print(f"{'kind':45} {'p50':>8} {'p99':>8}  a second", flush=True)
    for kind, some in {**paths, "all of them mixed": mix, "all of them mixed, 1 connection": mix}.items():
        if wanted not in kind:
            continue
        asked = [request("GET", path, headers) for path in chance.sample(some, len(some))]
        seen = drive(stack.url, asked, connections=1 if "1 conn" in kind else CONNECTIONS, seconds=SECONDS)
        print(f"{kind:45} {seen['p50_ms']:8.1f} {seen['p99_ms']:8.1f}  {seen['per_second']:.0f}", flush=True)


def _stack(data_dir: Path) -> BenchStack:
    state = load(data_dir)
    answer = {"url": state.url, "token": admin_token(data_dir), "database": state.database}
    return BenchStack(data_dir, answer, 0.0)


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        fill(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        measure(Path(sys.argv[2]), *sys.argv[3:])
