"""Fills PostgreSQL directly with assets whose words, owners, tags and sources are as unequal as those of a company.

`python -m bench.varied_assets URL COUNT` (the owner's URL of a migrated database). The load of the other measurements
has the same words in every asset, which suits throughput and says little about searches. Here words follow Zipf's law:
a few are in most assets, most are in a few. The pipeline is left out, and indexes are built after the load: a million
assets take about three minutes instead of an hour.
"""

import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from uuid import UUID

import orjson
import psycopg

from bench.events import TENANT
from lily.model.ids import asset_id

SEED = 7
SUBJECTS = (
    *("order", "customer", "invoice", "payment", "shipment", "product", "session", "click", "campaign", "contract"),
    *("employee", "ledger", "refund", "supplier", "store", "ticket", "device", "account", "policy", "claim"),
)
SHAPES = ("fact", "dim", "stg", "raw", "daily", "monthly", "history", "summary", "snapshot", "v2")
TYPES = (("table", 70), ("view", 15), ("dashboard", 5), ("job", 5), ("dataset", 5))
COMMON = ("the", "of", "and", "for", "every", "with", "from", "per", "as", "in", "by", "one", "row", "is", "to")
DATABASES = ("analytics", "sales", "finance", "marketing", "logistics", "people", "sandbox", "archive")
SYLLABLES = tuple(
    first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "an", "or", "il")
)
WORDS, OWNERS, SOURCES, SCHEMAS = 30_000, 2_000, 12, 400
TAGS = (("pii", 0.05), ("finance", 0.08), ("gold", 0.15), ("reviewed-2024", 0.001), ("rare-tag", 0.00005))
_COLUMNS = "tenant_id, id, qualified_name, source, source_at, version, created_at, updated_at"
_FIRST_DAY = datetime(2024, 1, 1, tzinfo=UTC)


class Zipf:
    """Draws numbers below `count`; the n-th is n times rarer than the first."""

    def __init__(self, chance: random.Random, count: int) -> None:
        self._chance, self._range = chance, range(count)
        self._weights = list(accumulate(1 / (number + 1) for number in range(count)))

    def take(self, times: int) -> list[int]:
        return self._chance.choices(self._range, cum_weights=self._weights, k=times)


def word(number: int) -> str:
    """A word that can be pronounced, a different one for each number; the first are those of English texts."""
    if number < len(COMMON):
        return COMMON[number]
    syllables: list[str] = []
    while number or not syllables:
        number, at = divmod(number, len(SYLLABLES))
        syllables.append(SYLLABLES[at])
    return "".join(syllables) + ("ne" if len(syllables) < 3 else "")


def rows(count: int, seed: int = SEED) -> Iterator[tuple[object, ...]]:
    """The same ones for the same seed, as COPY takes them."""
    chance = random.Random(seed)
    words, owners, sources, schemas = (Zipf(chance, of) for of in (WORDS, OWNERS, SOURCES, SCHEMAS))
    kinds, shares = [kind for kind, _ in TYPES], [share for _, share in TYPES]
    for number in range(count):
        schema = schemas.take(1)[0]
        database = DATABASES[schema % len(DATABASES)] if schema > 5 else "analytics"
        parent = f"{database}.{word(schema + 40)}"
        named = [chance.choice(SHAPES), chance.choice(SUBJECTS), *map(word, words.take(chance.randrange(3)))]
        name = "_".join([*named, f"{number:x}"] if chance.random() < 0.7 else [*named, f"{word(number)}{number:x}"])
        stated: dict[str, object] = {"$type": chance.choices(kinds, shares)[0], "name": name}
        stated["$parent"] = asset_id(TENANT, parent)
        stated["data_source"] = f"{database}-{sources.take(1)[0]}"
        if chance.random() < 0.6:
            stated["description"] = " ".join(map(word, words.take(chance.randrange(6, 25)))).capitalize() + "."
        if chance.random() < 0.7:
            stated["owner"] = f"team-{word(owners.take(1)[0] + 100)}@example.com"
        if chance.random() < 0.1:
            stated["business_terms"] = [" ".join(map(word, words.take(2))).title()]
        if tags := [tag for tag, share in TAGS if chance.random() < share]:
            stated["tags"] = {tag: tag for tag in tags}
        if chance.random() < 0.02:
            stated["$deleted"] = True
        created = _FIRST_DAY + timedelta(seconds=chance.randrange(60_000_000))
        at = created.strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        qualified_name = f"{parent}.{name}"
        asset = UUID(asset_id(TENANT, qualified_name))
        yield TENANT, asset, qualified_name, orjson.dumps(stated).decode(), at, 1, created, created


def fill(url: str, count: int, seed: int = SEED) -> None:
    """Adds the assets, and builds the indexes after them. Triggers do not run, so it needs the owner's role."""
    with psycopg.connect(url) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute("set maintenance_work_mem = '512MB'")
        indexes = connection.execute(
            "select indexname, indexdef from pg_indexes where tablename = 'assets' and indexname <> 'assets_pkey'"
        ).fetchall()
        for name, _ in indexes:
            connection.execute(f'drop index "{name}"'.encode())
        with connection.cursor().copy(f"copy assets ({_COLUMNS}) from stdin".encode()) as copy:
            for row in rows(count, seed):
                copy.write_row(row)
        for _, definition in indexes:
            connection.execute(definition.encode())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze assets")


if __name__ == "__main__":
    fill(sys.argv[1], int(sys.argv[2]))
