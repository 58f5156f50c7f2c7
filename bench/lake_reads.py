"""Reads of lake-only columns over HTTP, beside the same reads of tables in PostgreSQL.

One connection, random assets. A look-up is `GET /metadata/{id}`. A list has the 20 columns of a table, or 20 tables
of a schema. A search is for a column by its own and its table's name, or for a table by its name. For columns the API
process keeps an index of names, which the warm-up fills. The search for a page ends after `LILY_LAKE__SEARCH_SECONDS`,
whatever was found by then, so the time to follow the cursors through the whole lake is reported too. The lake is at
rest in the meantime. If an earlier measurement loaded more columns than this one needs, they stay.
"""

import random
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx

from bench.columns import PER_TABLE, fill
from bench.columns import column as column_of
from bench.events import asset
from bench.findings import BenchError, Finding, Goal, Outcome, Round, at_most, column
from bench.http_load import drive, request
from bench.run import Run
from bench.stack import BenchStack

DIFFERENT = 5000  # requests, taken in turn
SCHEMA_TABLES = 20
WHOLE_SEARCHES = 3  # in a round
WARM_SECONDS = 5  # longer than a page of a search may take


class Read(NamedTuple):
    """One kind of read: the path that asks about the column or the table of a number."""

    name: str
    about: str
    path: Callable[[int], str]
    of_columns: bool = True
    goal: Goal | None = None


def _look_up(number: int) -> str:
    return f"/metadata/{column_of(number).id}"


def _list(number: int) -> str:
    return f"/metadata?parent={column_of(number).parent}"


def _search(number: int) -> str:
    return f"/metadata?q={column_of(number).name}+{asset(number // PER_TABLE).name}"


def _look_up_table(number: int) -> str:
    return f"/metadata/{asset(number).id}"


def _list_tables(number: int) -> str:
    return f"/metadata?entity_type=table&limit={SCHEMA_TABLES}&parent={asset(number).parent}"


def _search_table(number: int) -> str:
    return f"/metadata?entity_type=table&q={asset(number).name}"


READS = (
    Read("look_up", "GET of a column that only the lake has", _look_up, goal=at_most(150)),
    Read("list", f"the {PER_TABLE} columns of a table in the lake", _list),
    Read("search", "a page of a search for a column of the lake", _search),
    Read("table_look_up", "GET of a table in PostgreSQL", _look_up_table, of_columns=False),
    Read("table_list", f"{SCHEMA_TABLES} tables of a schema in PostgreSQL", _list_tables, of_columns=False),
    Read("table_search", "a page of a search for a table in PostgreSQL", _search_table, of_columns=False),
)


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    run.say(f"{sizes.lake_pool:,} columns through the log")
    fill(stack, sizes.lake_pool)
    _require_cold(stack)
    for read in READS:
        _drive(run, stack, read, WARM_SECONDS)
    rounds = [_round(run, stack) for _ in run.rounds(sizes.lake_rounds)]
    return Outcome(_findings(rounds), rounds, {"columns": stack.columns, "tables": sizes.pool})


def _round(run: Run, stack: BenchStack) -> Round:
    found: Round = {}
    for read in READS:
        run.say(read.about)
        seen = _drive(run, stack, read, run.sizes.lake_read_seconds)
        found |= {f"{read.name}_p50": seen["p50_ms"], f"{read.name}_p99": seen["p99_ms"], f"{read.name}_run": seen}
    run.say("a search through the whole lake")
    searches = [_whole_search(stack, number) for number in _some(_columns(run, stack), WHOLE_SEARCHES)]
    return found | {"whole_search": statistics.median(searches), "whole_searches": searches}


def _whole_search(stack: BenchStack, number: int) -> float:
    """The milliseconds that all pages took. Raises BenchError if nothing was found on them."""
    with _client(stack) as client:
        began = time.perf_counter()
        if not _items(client, _search(number)):
            raise BenchError("the search for a column does not find it")
        return (time.perf_counter() - began) * 1000


def _items(client: httpx.Client, path: str) -> list[dict[str, Any]]:
    """Those of all pages."""
    page = client.get(path).raise_for_status().json()
    items: list[dict[str, Any]] = page["items"]
    while cursor := page["next_cursor"]:
        page = client.get(f"{path}&cursor={quote(cursor)}").raise_for_status().json()
        items += page["items"]
    return items


def _client(stack: BenchStack) -> httpx.Client:
    return httpx.Client(base_url=stack.url, headers={"authorization": f"Bearer {stack.token}"}, timeout=60)


def _drive(run: Run, stack: BenchStack, read: Read, seconds: float) -> Round:
    pool = _columns(run, stack) if read.of_columns else run.sizes.pool
    headers = {"authorization": f"Bearer {stack.token}"}
    requests = [request("GET", read.path(number), headers) for number in _some(pool, DIFFERENT)]
    return drive(stack.url, requests, connections=1, seconds=seconds)


def _columns(run: Run, stack: BenchStack) -> int:
    """How many columns there are whose tables are there as well."""
    return min(stack.columns, run.sizes.pool * PER_TABLE)


def _some(pool: int, count: int) -> list[int]:
    return random.sample(range(pool), min(pool, count))


def _require_cold(stack: BenchStack) -> None:
    """Raises BenchError unless PostgreSQL lacks the columns and the lake has them."""
    ids = [column_of(number).id for number in range(PER_TABLE)]
    if stack.database.execute("select 1 from assets where id = any(%s::uuid[]) limit 1", [ids]).fetchone():
        raise BenchError("a plain column is in PostgreSQL: its read says nothing about the lake")
    with _client(stack) as client:
        listed = {item["metadata_id"] for item in _items(client, _list(0))}
        if listed != set(ids):
            raise BenchError(f"the list of a table has {len(listed)} columns instead of its {PER_TABLE}")
        if client.get(_look_up(0)).raise_for_status().json()["metadata_id"] != ids[0]:
            raise BenchError("the look-up of a column answers something else")


def _findings(rounds: list[Round]) -> list[Finding]:
    whole = "a search for a column through the whole lake, all pages"
    found = [
        Finding(
            what=f"{read.about}: {part}",
            goal=read.goal if part == "p50" else None,
            unit="ms",
            values=column(rounds, f"{read.name}_{part}"),
        )
        for read in READS
        for part in ("p50", "p99")
    ]
    return [*found, Finding(what=whole, unit="ms", values=column(rounds, "whole_search"))]
