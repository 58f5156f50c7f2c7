"""The assets that an engine's name may mean: engines do not agree on the case of names, and an object directly below a
table is a column of it, whatever else somebody ingested under that name."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from lily.model import ids
from lily.model.engine_names import usual_spellings
from lily.model.lanes import BULK_TYPES, RELATIONAL
from lily.policy import Facts, fold
from lily.policy.candidates import column_of, restricting_by
from lily.store.postgres.copying import id_array
from lily.store.postgres.policies.facts import TABLE_TYPES, Earlier, Wanted, read_facts
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches

# What is below one of RELATIONAL, or below anything else, is a column if the lake has columns there (decision 54),
# whatever somebody has stated the one or the other to be. Anything else below a stored name has what policies restrict
# of the asset of that name, and nothing else of it (decision 59).
_SETTLED = [*RELATIONAL, *sorted(BULK_TYPES)]  # types of assets for which this need not be looked up

ByName = dict[str, list[Facts]]


async def read_candidates(
    database: Fetches, tenant: str, references: Collection[str], wanted: Wanted, earlier: Earlier | None = None
) -> ByName:
    """By reference: the asset, and the others that an engine may mean by the name. Somebody who may ingest assets could
    otherwise lift a denial by ingesting one that is spelled as the engine spells it. An id means its asset alone."""
    facts = await read_facts(database, tenant, references, wanted, earlier)
    names = {name: found for name, found in facts.items() if not ids.looks_like_uuid(name)}
    meant = await _Meant(database, tenant, wanted, earlier).by(names) if names else {}
    alone = {reference: found for reference, found in facts.items() if found is not None and reference not in names}
    below = await _restrictions_by_name(database, tenant, alone, wanted, earlier) if alone else {}
    return {
        name: meant[name] if name in names else [*([found] if found else []), *below.get(name, ())]
        for name, found in facts.items()
    }


async def _restrictions_by_name(
    database: Fetches, tenant: str, known: Mapping[str, Facts], wanted: Wanted, earlier: Earlier | None
) -> ByName:
    """By id: what counts of the asset that the name of another one, which is given by its id, is below."""
    above = {
        reference: prefix
        for reference, found in known.items()
        if (prefix := ids.name_prefix(found.qualified_name)) != found.qualified_name
        and ids.asset_id(tenant, prefix) not in {ancestor.id for ancestor in found.ancestors}
    }
    read = await read_facts(database, tenant, set(above.values()), wanted, earlier) if above else {}
    return {
        reference: [restricting_by(known[reference], table)]
        for reference, prefix in above.items()
        if (table := read[prefix]) is not None and table.entity_type
    }


async def columns_below(database: Fetches, tenant: str, tables: Collection[str]) -> list[str]:
    """The qualified names of those columns of these tables that PostgreSQL knows. The tables are named in any case."""
    rows = await database.fetch(tenant, query("policies/any_case/ids"), {"names": list(tables)}) if tables else []
    listed = id_array({asset_id for _, asset_id, _ in rows})
    given = {"tables": listed, "names": list(tables)}
    found = await database.fetch(tenant, query("policies/any_case/columns_below"), given)
    return [name for (name,) in found]


class _Meant:
    """Finds the assets that names may mean."""

    def __init__(self, database: Fetches, tenant: str, wanted: Wanted, earlier: Earlier | None) -> None:
        self._database, self._tenant, self._wanted, self._earlier = database, tenant, wanted, earlier
        self._have_columns: set[str] = set()  # ids of assets below which the lake has columns

    async def by(self, known: Mapping[str, Facts | None]) -> ByName:
        """By name: the asset that has it as written, which `known` holds, those of that name in another case, and
        columns of that name of tables in any case."""
        above = {name: prefix for name in known if (prefix := ids.name_prefix(name)) != name}
        have = {found.id: found for found in known.values() if found is not None}
        stored = await self._stored({*known, *above.values()}, have)
        tables = {name: stored.get(prefix, []) for name, prefix in above.items()}
        await self._look_below([one for listed in tables.values() for one in listed])
        unsettled = {
            name: self._unsettled(listed, (known[name], *stored.get(name, ()))) for name, listed in tables.items()
        }
        columns = await self._columns_with_lineage(unsettled, have)
        meant = {
            name: _once((*([exact] if exact else ()), *stored.get(name, ()), *columns.get(name, ())))
            for name, exact in known.items()
        }
        ends = await self._ends_of_edges(unsettled, have)
        for name, listed in tables.items():
            assets = meant[name] = _once((*meant[name], *ends.get(name, ())))
            missing = [table for table in listed if not _is_above(table, assets)]
            if missing:
                assets += self._below(missing, name, assets)
        return meant

    def _unsettled(self, tables: Sequence[Facts], assets: Sequence[Facts | None]) -> list[Facts]:
        """Those of which other columns of the name may be known. Of what is no table that is not looked up for an asset
        that states its parent: most names are those of tables below a schema."""
        typed = [one for one in assets if one is not None and one.entity_type]
        return [one for one in tables if self._is_table(one) or not _is_above(one, typed)]

    def _below(self, tables: Sequence[Facts], name: str, assets: Sequence[Facts]) -> list[Facts]:
        """What the name is as well, because of assets that nothing states to be above it."""
        certain = [one for one in tables if self._is_table(one) and self._may_have(one, assets)]
        columns = [column_of(self._tenant, table, _spelled(table, name)) for table in certain]
        known = [*assets, *columns]
        for table in tables:
            if table not in certain:
                asset = known[0] if known else column_of(self._tenant, table, _spelled(table, name))
                only = restricting_by(asset, table)
                # Which of several the name means is not known, so what depends on attributes restricts.
                columns.append(replace(only, attributes=None) if len(known) > 1 else only)
        return columns

    async def _look_below(self, tables: Sequence[Facts]) -> None:
        """Whether the lake has columns below what is stated to be a column itself. Columns have none, so that is not
        looked up for every one that is asked for."""
        columns = {one.id for one in tables if one.entity_type in BULK_TYPES}
        asked = {"ids": id_array(columns)}
        rows = (
            await self._database.fetch(self._tenant, query("policies/any_case/with_columns"), asked) if columns else []
        )
        self._have_columns.update(asset_id for (asset_id,) in rows)

    def _is_table(self, asset: Facts) -> bool:
        return asset.entity_type in TABLE_TYPES or asset.id in self._have_columns

    def _may_have(self, table: Facts, assets: Sequence[Facts]) -> bool:
        """Whether the name that means the assets may be a column of the table."""
        if not assets or table.entity_type in RELATIONAL or table.id in self._have_columns or _is_above(table, assets):
            return True
        return any(one.entity_type in BULK_TYPES for one in assets)

    async def _stored(self, names: Collection[str], have: Mapping[str, Facts]) -> ByName:
        asked = {"names": list(names), "settled": _SETTLED}
        rows = await self._database.fetch(self._tenant, query("policies/any_case/ids_with_columns"), asked)
        self._have_columns.update(asset_id for _, asset_id, _, have_columns in rows if have_columns)
        # By name: what is directly below a table counts as its column, also if it is asked for in another case.
        by_name = [
            (name, asset_id, stored if ids.resolve(self._tenant, stored) == asset_id else asset_id)
            for name, asset_id, stored, _ in rows
        ]
        return await self._read(by_name, have)

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
        rows = await self._database.fetch(self._tenant, query("policies/any_case/columns"), parameters)
        found = [(name, asset_id) for table, column, asset_id in rows for name in spelled.get((table, column), ())]
        return await self._read([(name, asset_id, asset_id) for name, asset_id in found], have)

    async def _ends_of_edges(self, tables: Mapping[str, Sequence[Facts]], have: Mapping[str, Facts]) -> ByName:
        """Columns that nobody has ingested. Edges have ids and no names, so only the usual spellings are found."""
        spelled = [
            (name, ids.asset_id(self._tenant, one), one)
            for name, listed in tables.items()
            for table in listed
            for one in usual_spellings(table.qualified_name, name)
            if one != name  # of that one all is known; another may be named in the same request
        ]
        if not spelled:
            return {}
        asked = {"ids": id_array({asset_id for _, asset_id, _ in spelled})}
        rows = await self._database.fetch(self._tenant, query("policies/any_case/ends_of_edges"), asked)
        found = {asset_id for (asset_id,) in rows}
        return await self._read([one for one in spelled if one[1] in found], have)

    async def _read(self, meant: Sequence[tuple[str, str, str]], have: Mapping[str, Facts]) -> ByName:
        """`meant` has names, the ids of assets that they mean, and the references to read these by."""
        missing = {asset_id: reference for _, asset_id, reference in meant if asset_id not in have}
        facts: dict[str, Facts | None] = {**have}
        if missing:
            read = await read_facts(self._database, self._tenant, set(missing.values()), self._wanted, self._earlier)
            facts |= {asset_id: read[reference] for asset_id, reference in missing.items()}
        found: ByName = {}
        for name, asset_id, _ in meant:
            if (fact := facts[asset_id]) is not None:
                found.setdefault(name, []).append(fact)
        return found


def _once(assets: Iterable[Facts]) -> list[Facts]:
    return list({one.id: one for one in assets}.values())


def _is_above(table: Facts, assets: Sequence[Facts]) -> bool:
    return any(table.id == ancestor.id for one in assets for ancestor in one.ancestors)


def _spelled(table: Facts, name: str) -> str:
    """The name of a column with that of its table as it is stored."""
    return table.qualified_name + name[len(ids.name_prefix(name)) :]
