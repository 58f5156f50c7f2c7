"""Columns whose names nobody knows: an edge may come before its assets, and has only their ids.

An engine that asks about a column by name finds its tags. A document of all columns cannot list it, so what it is
tagged with has to hold for every column of its table that is not listed.
"""

from collections.abc import Sequence

from lily.model import ids
from lily.policy import Facts
from lily.store.postgres.copying import id_array
from lily.store.postgres.enforcement.catalogue import TABLES_AT_ONCE, CatalogueTooLarge, FoundTable
from lily.store.postgres.policies.facts import Wanted, read_facts_of_columns
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches

MAX_UNNAMED = 100_000


async def read_unnamed_columns(
    database: Fetches, tenant: str, tables: Sequence[FoundTable], wanted: Wanted
) -> dict[str, list[Facts]]:
    """By id of the table: what is known of such columns, as if they were its. Raises CatalogueTooLarge."""
    found: dict[str, list[Facts]] = {}
    room = MAX_UNNAMED
    for start in range(0, len(tables), TABLES_AT_ONCE):
        chunk = tables[start : start + TABLES_AT_ONCE]
        ranges = [ids.ids_below(tenant, table.name) for table in chunk]
        given = {
            "first": id_array(first for first, _ in ranges),
            "last": id_array(last for _, last in ranges),
            "limit": room + 1,
        }
        rows = await database.fetch(tenant, query("enforcement/catalogue/columns_without_name"), given)
        room -= len(rows)
        if room < 0:
            described = f"edges name more than {MAX_UNNAMED:,} columns that were never ingested"
            raise CatalogueTooLarge(f"{described}. Ingest the columns, or divide the tables by data source.")
        for places in _rounds([(column, chunk[number - 1].id) for number, column in rows]):
            for column, facts in (await read_facts_of_columns(database, tenant, places, wanted)).items():
                if facts is not None:
                    found.setdefault(places[column], []).append(facts)
    return found


def _rounds(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Ids of columns and of their tables, each column once per round: it may be one of several tables."""
    rounds: list[dict[str, str]] = []
    for column, table in pairs:
        place = next((one for one in rounds if column not in one), None)
        if place is None:
            place = {}
            rounds.append(place)
        place[column] = table
    return rounds
