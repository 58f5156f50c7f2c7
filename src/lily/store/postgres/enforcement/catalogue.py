"""The inventory of a target that cannot be read: the tables of the catalogue that have its data source.

Plain columns, most of all, are only in the lake and not part of it. PostgreSQL has every column that has tags or
lineage; with those that policies name, these are all that can have a decision of their own. What is decided for a table
has to hold for any other column of it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from lily.model import ids
from lily.model.engine_names import EngineMapping, engine_names
from lily.model.errors import Terminal
from lily.model.lanes import BULK_TYPES
from lily.plugins.enforcers import Finding, Path, TargetColumn, TargetTable
from lily.policy import Policy, fold
from lily.policy.reading import named_assets, reading_data
from lily.store.postgres.copying import id_array
from lily.store.postgres.policies.facts import TABLE_TYPES
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches

MAX_TABLES = 100_000  # of a target: about 300 bytes each, and a decision for each in every run
MAX_COLUMNS = 1_000_000
PAGE = 5_000  # tables of one query
TABLES_AT_ONCE = 500  # whose columns one query returns
SEPARATOR = "."
_FIRST = "00000000-0000-0000-0000-000000000000"


class CatalogueTooLarge(Terminal):
    """A data source has more tables or columns than one target can have."""


class UnnamedAssets(Terminal):
    """A policy names an asset by an id that only the lake may know, so what it restricts is not known."""


class FoundColumn(NamedTuple):
    name: str
    qualified_name: str
    type: str


class FoundTable(NamedTuple):
    id: str
    name: str
    kind: str
    columns: dict[str, FoundColumn]  # by folded name


class CatalogueTable(NamedTuple):
    """A table with its name and those of its columns in Lily. `assets` are all that are this table in the target."""

    table: TargetTable
    name: str
    columns: tuple[str, ...]
    assets: tuple[FoundTable, ...]


async def read_catalogue(
    database: Fetches,
    tenant: str,
    data_source: str,
    policies: Collection[Policy],
    mappings: Collection[EngineMapping],
) -> tuple[list[CatalogueTable], list[Finding]]:
    """The tables, and what a person should know of them. Raises CatalogueTooLarge, and UnnamedAssets if a policy could
    restrict a column that is not found."""
    found = await read_tables(database, tenant, data_source)
    reading = list(reading_data(policies))
    await refuse_unnamed(database, tenant, [policy for policy in reading if policy.effect != "allow"])
    await add_columns(database, tenant, data_source, found)
    add_named(found, named_assets(reading))
    return _placed(found, data_source, mappings)


async def read_disabled_users(database: Fetches, tenant: str, limit: int) -> list[str]:
    rows = await database.fetch(tenant, query("enforcement/catalogue/disabled_users"), {"limit": limit})
    return [name for (name,) in rows]


async def read_tables(
    database: Fetches, tenant: str, data_source: str | None, types: Iterable[str] = TABLE_TYPES
) -> list[FoundTable]:
    """Of a data source, or of all; without their columns."""
    source = None if data_source is None else fold(data_source)
    found: list[FoundTable] = []
    for kind in types:
        beyond, more = _FIRST, True
        while more:
            given = {"type": kind, "beyond": beyond, "source": source, "limit": PAGE}
            rows = await database.fetch(tenant, query("enforcement/catalogue/tables"), given)
            found += [FoundTable(asset_id, name, kind, {}) for asset_id, name in rows]
            if len(found) > MAX_TABLES:
                raise _too_large(data_source, MAX_TABLES, "tables")
            more = len(rows) == PAGE
            beyond = rows[-1][0] if rows else beyond
    return found


async def refuse_unnamed(database: Fetches, tenant: str, policies: Sequence[Policy]) -> None:
    """Raises UnnamedAssets."""
    asset_ids = sorted(value for value in named_assets(policies) if ids.looks_like_uuid(value))
    if not asset_ids:
        return
    rows = await database.fetch(tenant, query("enforcement/catalogue/without_name"), {"ids": id_array(asset_ids)})
    if rows:
        policy = next(one for one in policies if any(fold(resource.value) == rows[0][0] for resource in one.resources))
        described = f"the policy {policy.name!r} names the asset {rows[0][0]}, whose qualified name is not known here"
        raise UnnamedAssets(f"{described}. Name the asset by its qualified name, or delete the policy.")


async def add_columns(database: Fetches, tenant: str, data_source: str | None, tables: Sequence[FoundTable]) -> None:
    """Those that PostgreSQL knows. Deleted ones count: the target may still have them, and so do their tags."""
    room = MAX_COLUMNS
    for start in range(0, len(tables), TABLES_AT_ONCE):
        chunk = {table.id: table for table in tables[start : start + TABLES_AT_ONCE]}
        names = [table.name for table in chunk.values()]
        given = {"tables": id_array(chunk), "names": names, "types": sorted(BULK_TYPES), "limit": room + 1}
        rows = await database.fetch(tenant, query("enforcement/catalogue/columns"), given)
        room -= len(rows)
        if room < 0:
            raise _too_large(data_source, MAX_COLUMNS, "columns with tags, lineage or edits")
        for table_id, qualified_name, name, data_type in rows:
            table = chunk[table_id]
            column = FoundColumn(
                _below(table.name, qualified_name) or name or qualified_name, qualified_name, data_type
            )
            table.columns.setdefault(fold(column.name), column)


def add_named(tables: Iterable[FoundTable], names: Iterable[str]) -> None:
    """Columns that policies name and that only the lake may have."""
    by_table: dict[str, list[str]] = {}
    for name in names:
        by_table.setdefault(fold(ids.name_prefix(name)), []).append(name)
    for table in tables:
        for name in by_table.get(fold(table.name), ()):
            column = _below(table.name, name)
            if column:
                table.columns.setdefault(fold(column), FoundColumn(column, f"{table.name}{SEPARATOR}{column}", ""))


def _below(table: str, name: str) -> str:
    """The name of a column without its table's; empty if it is not named below it."""
    above, rest = name[: len(table)], name[len(table) :]
    return rest[len(SEPARATOR) :] if fold(above) == fold(table) and rest.startswith(SEPARATOR) else ""


def _placed(
    tables: Iterable[FoundTable], data_source: str, mappings: Collection[EngineMapping]
) -> tuple[list[CatalogueTable], list[Finding]]:
    """With their names in the target. Assets whose names there are equal are one table: all of them decide for it."""
    placed: dict[Path, CatalogueTable] = {}
    findings = []
    for table in sorted(tables, key=lambda one: one.name):
        names = engine_names(table.name, data_source, mappings)
        if not names:
            findings.append(
                Finding(table.name, "an engine mapping gives its name to another asset; correct the mapping")
            )
        for name in names:
            path = tuple(name.split(SEPARATOR))
            placed[path] = _joined(placed.get(path), path, table)
    return list(placed.values()), findings


def _joined(earlier: CatalogueTable | None, path: Path, table: FoundTable) -> CatalogueTable:
    columns: Mapping[str, FoundColumn] = table.columns
    if earlier is not None:
        known = zip(earlier.table.columns, earlier.columns, strict=True)
        columns = table.columns | {fold(one.name): FoundColumn(one.name, name, one.type) for one, name in known}
    listed = [columns[key] for key in sorted(columns)]
    shown = tuple(TargetColumn(column.name, column.type) for column in listed)
    first = earlier or CatalogueTable(TargetTable(path, table.kind, ()), table.name, (), ())
    names = tuple(column.qualified_name for column in listed)
    assets = (*first.assets, table)
    return first._replace(table=first.table._replace(columns=shown), columns=names, assets=assets)


def _too_large(data_source: str | None, limit: int, what: str) -> CatalogueTooLarge:
    subject = "the catalogue" if data_source is None else f"the data source {data_source!r}"
    described = f"{subject} has more than {limit:,} {what}, the most that one target can have"
    return CatalogueTooLarge(f"{described}. Divide it into several data sources with a target each.")
