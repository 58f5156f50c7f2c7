"""Tables that have to be readable as they are, with every column: those that would be renamed, and those that a
connector describes in others."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from lily.api.enforcement.columns import unnamed_columns
from lily.enforce.iceberg import Column, Field
from lily.model import ids
from lily.policy import Facts, Policy, fold
from lily.policy.candidates import stated
from lily.policy.reading import named_assets
from lily.store.postgres.policies.any_case import columns_below
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.sessions import Fetches

MAX_TABLES = 100  # of one request. Each takes a query
ColumnsByTable = dict[str, list[str]]


class Unnamed(NamedTuple):
    """Columns that have ids and no names, by table, and what is known of them."""

    columns: ColumnsByTable
    facts: dict[str, list[Facts]]


async def named_columns(
    database: Fetches, tenant: str, policies: Iterable[Policy], tables: Collection[str]
) -> ColumnsByTable:
    """Those that PostgreSQL knows, and those that policies name: these may be in the lake only. Of a few tables, in the
    order of their names: what needs another is denied."""
    named = [(fold(ids.name_prefix(name)), name) for name in named_assets(policies)]
    found: ColumnsByTable = {}
    for table in sorted(tables)[:MAX_TABLES]:
        known = await columns_below(database, tenant, [table])
        found[table] = sorted({*known, *(name for above, name in named if above == fold(table))})
    return found


async def unnamed(
    database: Fetches, tenant: str, columns: ColumnsByTable, facts: Mapping[str, Sequence[Facts]], wanted: Wanted
) -> Unnamed:
    """`columns` and `facts` are those of names."""
    found = Unnamed({}, {})
    for table, names in columns.items():
        listed = await unnamed_columns(database, tenant, stated(facts[table]), _listed(names), wanted)
        found.columns[table] = [one.id for one in listed]
        found.facts.update((one.id, [one]) for one in listed)
    return found


def _listed(names: Iterable[str]) -> list[Column]:
    return [Column(Field(name), (name,)) for name in names]
