"""The assets that an engine's name may mean: engines do not agree on the case of names, and an object directly below a
table is a column of it, whatever else somebody ingested under that name."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from lily.model import ids
from lily.model.lanes import BULK_TYPES
from lily.policy import Ancestor, Facts
from lily.store.postgres.copying import id_array
from lily.store.postgres.policies.facts import TABLE_TYPES, Wanted, read_facts
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

# Only columns are directly below one of these. Names of topics and files have separators of their own.
RELATIONAL = ("table", "view", "materialized_view")

ByName = dict[str, list[Facts]]


async def other_candidates(
    database: Database, tenant: str, known: Mapping[str, Facts | None], wanted: Wanted
) -> dict[str, list[Facts]]:
    """By name: the assets that it may mean besides the one that has it as written, which `known` holds. They are those
    of that name in another case, and columns of that name of tables in any case."""
    above = {name: prefix for name in known if (prefix := ids.name_prefix(name)) != name}
    stored = await _stored(database, tenant, {*known, *above.values()}, wanted)
    tables = {
        name: [table for table in stored.get(prefix, ()) if table.entity_type in TABLE_TYPES]
        for name, prefix in above.items()
    }
    columns = await _columns_with_lineage(database, tenant, tables, wanted)
    found: ByName = {}
    for name, exact in known.items():
        written = [exact] if exact is not None else []
        others = [one for one in stored.get(name, ()) if exact is None or one.id != exact.id]
        others += [one for one in columns.get(name, ()) if exact is None or one.id != exact.id]
        assets = [*written, *others]
        missing = [table for table in tables.get(name, ()) if _lacks(assets, table)]
        found[name] = others + [_column(tenant, table, _spelled(table, name)) for table in missing]
    return found


def _lacks(assets: Sequence[Facts], table: Facts) -> bool:
    """Whether the name may be a column of the table that none of the assets is."""
    if any(table.id == ancestor.id for one in assets for ancestor in one.ancestors):
        return False
    return not assets or table.entity_type in RELATIONAL or any(one.entity_type in BULK_TYPES for one in assets)


def _column(tenant: str, table: Facts, name: str) -> Facts:
    """A plain column of the table. Its attributes are unknown."""
    ancestors = (Ancestor(table.id, table.qualified_name), *table.ancestors)
    return Facts(ids.asset_id(tenant, name), name, "column", table.data_source, ancestors, table.tags)


def _spelled(table: Facts, name: str) -> str:
    """The name of a column with that of its table as it is stored."""
    return table.qualified_name + name[len(ids.name_prefix(name)) :]


async def _stored(database: Database, tenant: str, names: Collection[str], wanted: Wanted) -> ByName:
    rows = await database.fetch(tenant, query("policies/ids_in_any_case"), {"names": list(names)})
    return await _read(database, tenant, [(name, asset_id) for name, asset_id in rows], wanted)


async def _columns_with_lineage(
    database: Database, tenant: str, tables: Mapping[str, Sequence[Facts]], wanted: Wanted
) -> ByName:
    """Columns that only the lake has, as far as they have lineage and so may have tags of their own."""
    spelled: dict[tuple[str, str], list[str]] = {}
    for name, listed in tables.items():
        for table in listed:
            spelled.setdefault((table.id, _lower(_spelled(table, name))), []).append(name)
    if not spelled:
        return {}
    parameters = {
        "tables": id_array({table for table, _ in spelled}),
        "names": sorted({column for _, column in spelled}),
    }
    rows = await database.fetch(tenant, query("policies/columns_in_any_case"), parameters)
    pairs = [(name, asset_id) for table, column, asset_id in rows for name in spelled.get((table, column), ())]
    return await _read(database, tenant, pairs, wanted)


async def _read(database: Database, tenant: str, pairs: Iterable[tuple[str, str]], wanted: Wanted) -> ByName:
    listed = list(pairs)
    if not listed:
        return {}
    facts = await read_facts(database, tenant, {asset_id for _, asset_id in listed}, wanted)
    found: ByName = {}
    for name, asset_id in listed:
        if (fact := facts[asset_id]) is not None:
            found.setdefault(name, []).append(fact)
    return found


def _lower(name: str) -> str:
    """As `lower` in the collation "C": ASCII letters alone, as engines do."""
    return name.encode().lower().decode()
