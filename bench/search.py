"""Searches and lists of assets over HTTP, as people browse: 4 connections.

A table by its exact name, a column by its own and its table's name, a word that nearly every table has, a word of a
description, lists by owner, source and tag in an order, and the pages that follow. PostgreSQL has the tables, and the
lake alone the columns. Each kind is measured by itself, and then all of them mixed, which the goals are for. Two kinds
that are known to be slow are measured by themselves and are not in the mix: a common word in an order that is not its
rank, and a common word together with a tag that few of its matches have. The warm-up fills the API's index of names in
the lake and opens pools. If an earlier measurement loaded more, it stays.
"""

import random
from typing import Any
from urllib.parse import quote

import httpx
import orjson

from bench.columns import PER_TABLE, fill
from bench.columns import column as column_of
from bench.events import OWNER, SOURCE, TENANT, Asset, asset, producer
from bench.findings import BenchError, Finding, Outcome, Round, at_most, column
from bench.http_load import drive, request
from bench.run import Run
from bench.stack import BenchStack
from lily.bus.topics import ASSETS, key_of
from lily.model import clock
from lily.model.events import AssetEvent
from lily.model.statements import read_statement

CONNECTIONS = 4
KIND, SHARE = "report", 10  # of the tables, one in so many has a description, an owner and a source of its own
TAG, TAGGED, OWNERS, SOURCES = "bench-search", 20, 50, 7
RARE, FEW = "bench-rare", 1_000  # of the described tables, one in so many
DIFFERENT, FOLLOWED = 400, 5  # requests of a kind, and pages after a first one
WARM_SECONDS = 5


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    described = sizes.pool // SHARE
    run.say(f"{described:,} described tables, {sizes.search_columns:,} columns")
    _describe(stack, described)
    fill(stack, sizes.search_columns)
    kinds = _kinds(stack, sizes.pool, described)
    slow = _slow_kinds()
    for paths in (*kinds.values(), *slow.values()):
        _drive(stack, paths, WARM_SECONDS)
    rounds = [_round(run, stack, kinds, slow) for _ in run.rounds(sizes.lake_rounds)]
    at = f"{sizes.pool + described:,} tables and {stack.columns:,} columns, {CONNECTIONS} connections"
    findings = [
        Finding(what=f"a mix of searches, {at}: p50", unit="ms", goal=at_most(30), values=column(rounds, "mix_p50")),
        Finding(what=f"a mix of searches, {at}: p99", unit="ms", goal=at_most(150), values=column(rounds, "mix_p99")),
        *(
            Finding(what=f"{kind}: {part}", unit="ms", values=column(rounds, f"{kind}_{part}"))
            for kind in (*kinds, *slow)
            for part in ("p50", "p99")
        ),
    ]
    return Outcome(findings, rounds, {"connections": CONNECTIONS, "tables": sizes.pool, "columns": stack.columns})


def _round(run: Run, stack: BenchStack, kinds: dict[str, list[str]], slow: dict[str, list[str]]) -> Round:
    found: Round = {}
    mix = [path for each in kinds.values() for path in each]
    for kind, paths in (*kinds.items(), ("mix", mix), *slow.items()):
        run.say(kind)
        seen = _drive(stack, paths, run.sizes.http_seconds)
        found |= {f"{kind}_p50": seen["p50_ms"], f"{kind}_p99": seen["p99_ms"], f"{kind}_run": seen}
    return found


def _kinds(stack: BenchStack, tables: int, described: int) -> dict[str, list[str]]:
    """Paths by what they ask for, the same number of each."""
    numbers = [random.randrange(tables) for _ in range(DIFFERENT)]
    columns = [random.randrange(min(stack.columns, tables * PER_TABLE)) for _ in range(DIFFERENT)]
    filters = [
        f"/metadata?owner={OWNER}&sort=name",
        f"/metadata?data_source={SOURCE}&sort=created_at&order=desc",
        f"/metadata?tag={TAG}&sort=qualified_name",
        *(f"/metadata?owner=owner+{number}&sort=name" for number in range(OWNERS)),
        *(f"/metadata?data_source=source+{number}&entity_type=table&sort=qualified_name" for number in range(SOURCES)),
    ]
    broad = ["/metadata?q=orders", "/metadata?q=warehouse", "/metadata?q=ord&entity_type=table"]
    kinds = {
        "a table by its name": [f"/metadata?q={asset(number).name}" for number in numbers],
        "a column by its and its table's name": [_named_column(number) for number in columns],
        "a common word": broad,
        "a word of a description": [f"/metadata?q=about{_letters(number % described)}" for number in numbers],
        "a filter and an order": filters,
        "a following page": [page for path in (*broad, *filters[:4]) for page in _following(stack, path)],
    }
    if missing := [kind for kind, paths in kinds.items() if not paths]:
        raise BenchError(f"the catalogue is too small for: {', '.join(missing)}")
    return {kind: [random.choice(paths) for _ in range(DIFFERENT)] for kind, paths in kinds.items()}


def _slow_kinds() -> dict[str, list[str]]:
    words = ("orders", "warehouse", "shop", "ord")
    return {
        "a common word, sorted by name": [f"/metadata?q={word}&sort=name" for word in words],
        "a common word and a rare tag": [f"/metadata?q={word}&tag={RARE}" for word in ("warehouse", "shop", "report")],
    }


def _named_column(number: int) -> str:
    return f"/metadata?q={column_of(number).name}+{asset(number // PER_TABLE).name}"


def _following(stack: BenchStack, path: str) -> list[str]:
    """The paths of the pages after the first; none if there are few matches, as of an owner in a small catalogue."""
    found: list[str] = []
    headers = {"authorization": f"Bearer {stack.token}"}
    with httpx.Client(base_url=stack.url, headers=headers, timeout=60) as client:
        following = path
        for _ in range(FOLLOWED):
            page: dict[str, Any] = client.get(following).raise_for_status().json()
            if page["next_cursor"] is None:
                break
            following = f"{path}&cursor={quote(page['next_cursor'])}"
            found.append(following)
    return found


def _drive(stack: BenchStack, paths: list[str], seconds: float) -> Round:
    headers = {"authorization": f"Bearer {stack.token}"}
    requests = [request("GET", path, headers) for path in random.sample(paths, len(paths))]
    return drive(stack.url, requests, connections=CONNECTIONS, seconds=seconds)


def _describe(stack: BenchStack, count: int) -> None:
    log = producer(stack.kafka)
    for number in range(count):
        event = _described(asset(number, KIND), number)
        log.produce(ASSETS, orjson.dumps(event.as_cloudevent()), key_of(TENANT, event.asset_id))
        log.poll(0)
    log.flush(60)
    stack.wait_applied(stack.ends())


def _described(of: Asset, number: int) -> AssetEvent:
    attributes = {
        "name": of.name,
        "qualified_name": of.qualified_name,
        "parent": of.parent,
        "description": f"What the board reads about{_letters(number)} every month, net of returns.",
        "owner": f"owner {number % OWNERS}",
        "data_source": f"source {number % SOURCES}",
        "tags": [tag for tag, each in ((TAG, TAGGED), (RARE, FEW)) if number % each == 0],
    }
    statement = read_statement({"entity_type": "table", "attributes": attributes}, tenant=TENANT)
    return AssetEvent(f"search-{clock.now()}-{number}", clock.now(), TENANT, statement)


def _letters(number: int) -> str:
    """The number as a word: searches leave numbers of a description out."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
