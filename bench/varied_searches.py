"""Times pages of searches in a database that `bench.varied_assets` filled, without HTTP and the lake.

`python -m bench.varied_searches URL [OWNER_URL]` (the URL of the role lily_api; the owner's, to see its processes). For
each kind of search it prints p50, p99 and the worst in milliseconds, and the mean of PostgreSQL's processor time.
"""

import asyncio
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from bench.events import TENANT
from bench.findings import percentile
from bench.varied_assets import SEED, word
from lily.lineage.tag_rules import DEFAULT_TAG_RULES
from lily.model.assets import tag_key
from lily.store.postgres.catalogue.search import FILTERS, SearchRequest, SearchResult, search
from lily.store.postgres.sessions import Database

EACH = int(os.environ.get("BENCH_EACH", "60"))
_chance = random.Random(SEED)
Ask = dict[str, Any]


def _rare() -> str:
    return word(_chance.randrange(15_000, 29_000))


def _common() -> str:
    return word(_chance.randrange(150, 1_500))


def _very_common() -> str:
    return _chance.choice(
        ["the", "of", "analytics", "sales", "order", "fact", "daily", "and", "customer", "raw", "row"]
    )


def _owner(first: int = 0, end: int = 1_000) -> str:
    return f"team-{word(_chance.randrange(first, end) + 100)}@example.com"


def _source() -> str:
    return f"{_chance.choice(['analytics', 'finance', 'people'])}-{_chance.randrange(12)}"


KINDS: dict[str, Callable[[], Ask]] = {
    "rare word": lambda: {"q": _rare()},
    "common word": lambda: {"q": _common()},
    "very common word": lambda: {"q": _very_common()},
    "absent word": lambda: {"q": "xq" + _rare()},
    "two words, common": lambda: {"q": f"{_common()} {_common()}"},
    "two words, very common": lambda: {"q": f"{_very_common()} {_very_common()}"},
    "two words, very common and rare": lambda: {"q": f"{_very_common()} {_rare()}"},
    "beginning of three letters": lambda: {"q": _common()[:3]},
    "beginning of one letter": lambda: {"q": _chance.choice("aofdbs")},
    "very common word, by type": lambda: {"q": _very_common(), "entity_type": "dashboard"},
    "very common word, big owner": lambda: {"q": _very_common(), "owner": _owner(0, 5)},
    "very common word, small owner": lambda: {"q": _very_common(), "owner": _owner(200, 1_500)},
    "very common word, source": lambda: {"q": _very_common(), "data_source": _source()},
    "very common word, common tag": lambda: {"q": _very_common(), "tag": _chance.choice(["pii", "gold", "finance"])},
    "very common word, rare tag": lambda: {"q": _very_common(), "tag": "rare-tag"},
    "very common word, tag of 1 in 1,000": lambda: {"q": _very_common(), "tag": "reviewed-2024"},
    "common tag": lambda: {"tag": _chance.choice(["pii", "gold", "finance"])},
    "common tag, by name": lambda: {"tag": _chance.choice(["pii", "gold", "finance"]), "sort": "name"},
    "rare tag, by name": lambda: {"tag": _chance.choice(["rare-tag", "reviewed-2024"]), "sort": "name"},
    "owner, by name": lambda: {"owner": _owner(), "sort": "name"},
    "owner, newest first": lambda: {"owner": _owner(), "sort": "created_at", "order": "desc"},
    "source, by name": lambda: {"data_source": _source(), "sort": "name"},
    "source, newest first": lambda: {"data_source": _source(), "sort": "created_at", "order": "desc"},
    "newest first": lambda: {"sort": "created_at", "order": "desc"},
    "last updated first": lambda: {"sort": "updated_at", "order": "desc"},
    "common word, by name": lambda: {"q": _common(), "sort": "name"},
    "very common word, by name": lambda: {"q": _very_common(), "sort": "name"},
    "very common word, newest first": lambda: {"q": _very_common(), "sort": "created_at", "order": "desc"},
    "rare word, by name": lambda: {"q": _rare(), "sort": "name"},
}
FOLLOWED = 6


def _request(ask: Ask, after: tuple[str, str] | None = None) -> SearchRequest:
    filters = {name: ask[name] for name in FILTERS if name in ask}
    if "tag" in filters:
        filters["tag"] = tag_key(filters["tag"])
    sort = ask.get("sort", "rank" if "q" in ask else "id")
    return SearchRequest(
        filters, include_deleted=False, sort=sort, order=ask.get("order", "asc"), limit=50, after=after
    )


async def measure(url: str, owner_url: str, wanted: str) -> None:
    database = Database(url)
    await database.open()
    everything: list[float] = []
    print(f"{'kind':40} {'p50':>8} {'p99':>8} {'worst':>8} {'cpu':>7}  found", flush=True)
    for kind, make in KINDS.items():
        if wanted not in kind:
            continue
        asks = [make() for _ in range(EACH)]
        took, found, before = [], 0, _spent(owner_url)
        for ask in asks:
            page, seconds = await _timed(database, _request(ask))
            took.append(seconds)
            found += len(page.assets)
        everything += took
        _print(kind, took, (_spent(owner_url) - before) / len(asks), found / len(asks))
    if wanted in "following pages":
        took = []
        for ask in ({"q": "the"}, {"q": "analytics"}, {"q": "order daily"}, {"tag": "gold", "sort": "name"}):
            after = None
            for _ in range(FOLLOWED):
                page, seconds = await _timed(database, _request(ask, after))
                took.append(seconds)
                after = page.last
        everything += took
        _print("following pages", took, 0.0, 0.0)
    _print("all", everything, 0.0, 0.0)
    await database.close()


async def _timed(database: Database, request: SearchRequest) -> tuple[SearchResult, float]:
    began = time.perf_counter()
    page = await search(database, TENANT, request, DEFAULT_TAG_RULES)
    return page, (time.perf_counter() - began) * 1000


def _print(kind: str, took: list[float], cpu: float, found: float) -> None:
    p50, p99 = percentile(took, 50), percentile(took, 99)
    print(f"{kind:40} {p50:8.1f} {p99:8.1f} {max(took):8.1f} {cpu:7.1f}  {found:.1f}", flush=True)


def _spent(owner_url: str) -> float:
    """The processor time, in ms, of the processes that serve the role so far."""
    query = "select pid from pg_stat_activity where usename = 'lily_api'"
    with psycopg.connect(owner_url) as connection:
        pids = [pid for (pid,) in connection.execute(query)]
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total * 1000 / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    asyncio.run(measure(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""))
