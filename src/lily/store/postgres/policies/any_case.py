"""The assets that an engine's name may mean: engines do not agree on the case of names, and an object directly below a
table is a column of it, whatever else somebody ingested under that name."""

from collections.abc import Collection, Mapping, Sequence

from lily.model import ids
from lily.model.lanes import BULK_TYPES
from lily.policy import Ancestor, Facts, fold
from lily.store.postgres.copying import id_array
from lily.store.postgres.policies.facts import TABLE_TYPES, Earlier, Wanted, read_facts
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches

# Only columns are directly below one of these. Names of topics and files have separators of their own.
RELATIONAL = ("table", "view", "materialized_view")

ByName = dict[str, list[Facts]]


async def read_candidates(
    database: Fetches, tenant: str, references: Collection[str], wanted: Wanted, earlier: Earlier | None = None
) -> ByName:
    """By reference: the asset, and the others that an engine may mean by the name. Somebody who may ingest assets could
    otherwise lift a denial by ingesting one that is spelled as the engine spells it. An id means its asset alone."""
    facts = await read_facts(database, tenant, references, wanted, earlier)
    names = {name: found for name, found in facts.items() if not ids.looks_like_uuid(name)}
    others = await _Others(database, tenant, wanted, earlier).of(names) if names else {}
    return {name: [*([found] if found else ()), *others.get(name, ())] for name, found in facts.items()}


async def columns_below(database: Fetches, tenant: str, tables: Collection[str]) -> list[str]:
    """The qualified names of those columns of these tables that PostgreSQL knows. The tables are named in any case."""
    rows = await database.fetch(tenant, query("policies/ids_in_any_case"), {"names": list(tables)}) if tables else []
    listed = id_array({asset_id for _, asset_id in rows})
    found = await database.fetch(tenant, query("policies/columns_below"), {"tables": listed})
    return [name for (name,) in found]


class _Others:
    """Finds the assets that names may mean besides those that have them as written."""

    def __init__(self, database: Fetches, tenant: str, wanted: Wanted, earlier: Earlier | None) -> None:
        self._database, self._tenant, self._wanted, self._earlier = database, tenant, wanted, earlier

    async def of(self, known: Mapping[str, Facts | None]) -> ByName:
        """By name: those of that name in another case, and columns of that name of tables in any case. `known` holds
        the asset that has the name as written."""
        above = {name: prefix for name in known if (prefix := ids.name_prefix(name)) != name}
        have = {found.id: found for found in known.values() if found is not None}
        stored = await self._stored({*known, *above.values()}, have)
        tables = {
            name: [table for table in stored.get(prefix, ()) if table.entity_type in TABLE_TYPES]
            for name, prefix in above.items()
        }
        columns = await self._columns_with_lineage(tables, have)
        found: ByName = {}
        for name, exact in known.items():
            written = [exact] if exact is not None else []
            others = [one for one in stored.get(name, ()) if exact is None or one.id != exact.id]
            others += [one for one in columns.get(name, ()) if exact is None or one.id != exact.id]
            assets = [*written, *others]
            missing = [table for table in tables.get(name, ()) if _lacks(assets, table)]
            found[name] = others + [_column(self._tenant, table, _spelled(table, name)) for table in missing]
        return found

    async def _stored(self, names: Collection[str], have: Mapping[str, Facts]) -> ByName:
        rows = await self._database.fetch(self._tenant, query("policies/ids_in_any_case"), {"names": list(names)})
        return await self._read([(name, asset_id) for name, asset_id in rows], have)

    async def _columns_with_lineage(self, tables: Mapping[str, Sequence[Facts]], have: Mapping[str, Facts]) -> ByName:
        """Columns that only the lake has, as far as they have lineage and so may have tags of their own."""
        spelled: dict[tuple[str, str], list[str]] = {}
        for name, listed in tables.items():
            for table in listed:
                spelled.setdefault((table.id, fold(_spelled(table, name))), []).append(name)
        if not spelled:
            return {}
        parameters = {
            "tables": id_array({table for table, _ in spelled}),
            "names": sorted({column for _, column in spelled}),
        }
        rows = await self._database.fetch(self._tenant, query("policies/columns_in_any_case"), parameters)
        pairs = [(name, asset_id) for table, column, asset_id in rows for name in spelled.get((table, column), ())]
        return await self._read(pairs, have)

    async def _read(self, pairs: Sequence[tuple[str, str]], have: Mapping[str, Facts]) -> ByName:
        missing = {asset_id for _, asset_id in pairs} - have.keys()
        facts: Mapping[str, Facts | None] = have
        if missing:
            read = await read_facts(self._database, self._tenant, missing, self._wanted, self._earlier)
            facts = {**have, **read}
        found: ByName = {}
        for name, asset_id in pairs:
            if (fact := facts[asset_id]) is not None:
                found.setdefault(name, []).append(fact)
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
