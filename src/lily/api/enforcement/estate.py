"""What Trino has, as far as the catalogue knows, with the facts by which everything in it is decided."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from lily.api.policy.compiled import TenantPolicies
from lily.enforce.ranger import PLAIN, CatalogueTable, Column, Estate, engine_paths, references
from lily.enforce.trino.objects import SYSTEM
from lily.policy import Facts, Policy
from lily.policy.reading import named_assets, reading_data
from lily.store.postgres.enforcement.catalogue import (
    FoundTable,
    add_columns,
    add_named,
    read_tables,
    refuse_unnamed,
)
from lily.store.postgres.enforcement.unnamed import read_unnamed_columns
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.sessions import Fetches

CHUNK = 5_000  # names of one query
SCHEMA_TYPES = ("schema", "namespace", "database")
FactsByName = Mapping[str, Sequence[Facts]]


class KnownEstate(NamedTuple):
    estate: Estate
    facts: FactsByName


async def read_estate(
    database: Fetches, policies: TenantPolicies, data_source: str | None, wanted: Wanted
) -> KnownEstate:
    """Of a data source, or of all. Raises CatalogueTooLarge, and UnnamedAssets if a policy could restrict a column that
    is not found."""
    tenant, listed = policies.tenant, list(policies.index.policies.values())
    tables = await read_tables(database, tenant, data_source)
    await _add_columns(database, tenant, data_source, tables, listed)
    schemas = await read_tables(database, tenant, None, SCHEMA_TYPES)
    by_path = _placed(tables, policies)
    estate = Estate(
        [_joined(path, found) for path, found in by_path.items()],
        sorted({path for one in schemas for path in _paths(one.name, policies, 2)}),  # type: ignore[misc]
    )
    unnamed = await read_unnamed_columns(database, tenant, tables, wanted)
    facts = await _facts(database, policies, estate, wanted)
    for path, found in by_path.items():
        for name in policies.trino_names.of((*path, PLAIN)):
            facts[name] = [*facts[name], *(one for table in found for one in unnamed.get(table.id, ()))]
    return KnownEstate(estate, facts)


async def _add_columns(
    database: Fetches,
    tenant: str,
    data_source: str | None,
    tables: Sequence[FoundTable],
    policies: Collection[Policy],
) -> None:
    reading = list(reading_data(policies))
    await refuse_unnamed(database, tenant, [policy for policy in reading if policy.effect != "allow"])
    await add_columns(database, tenant, data_source, tables)
    add_named(tables, named_assets(policies))


def _placed(tables: Iterable[FoundTable], policies: TenantPolicies) -> dict[tuple[str, ...], list[FoundTable]]:
    """By path in Trino. Assets whose names differ in case alone are one table there."""
    found: dict[tuple[str, ...], list[FoundTable]] = {}
    for table in sorted(tables, key=lambda one: one.name):
        for path in _paths(table.name, policies, 3):
            found.setdefault(path, []).append(table)
    return found


def _paths(name: str, policies: TenantPolicies, levels: int) -> list[tuple[str, ...]]:
    return engine_paths(name, policies.mappings, policies.trino_names, levels)


def _joined(path: tuple[str, ...], found: Iterable[FoundTable]) -> CatalogueTable:
    types: dict[str, str] = {}
    for table in found:
        for column in table.columns.values():
            types[column.name.lower()] = types.get(column.name.lower()) or column.type
    catalog, schema, table_name = path
    return CatalogueTable((catalog, schema, table_name), tuple(Column(name, types[name]) for name in sorted(types)))


async def _facts(database: Fetches, policies: TenantPolicies, estate: Estate, wanted: Wanted) -> dict[str, list[Facts]]:
    names = policies.trino_names
    listed = {SYSTEM, *(name for table in estate.tables for name in references(table, names))}
    containers = {*estate.schemas, *(table.path[:2] for table in estate.tables)}
    listed.update(name for path in containers for level in (1, 2) for name in names.of(path[:level]))
    ordered, found = sorted(listed), dict[str, list[Facts]]()
    for start in range(0, len(ordered), CHUNK):
        found |= await read_candidates(database, policies.tenant, ordered[start : start + CHUNK], wanted)
    return found
