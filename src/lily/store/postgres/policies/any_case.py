"""The assets that a name may mean: engines do not agree on the case of names, so each is looked for in any case."""

from collections.abc import Collection, Iterable, Mapping

from lily.model import ids
from lily.policy import Facts, fold
from lily.store.postgres.copying import id_array
from lily.store.postgres.policies.facts import TABLE_TYPES, Earlier, Wanted, read_facts
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches


async def read_candidates(
    database: Fetches,
    tenant: str,
    references: Collection[str],
    wanted: Wanted,
    *,
    as_written: bool = True,
    earlier: Earlier | None = None,
) -> dict[str, list[Facts]]:
    """By reference: the assets of that name in any case, and the columns of that name of tables in any case. None if
    there is no such asset. An id means its asset alone, and so does, with `as_written`, a name that a stored asset has
    exactly; an engine that writes all names in lower case does not mean it that way."""
    above = {name: ids.name_prefix(name) for name in references if not ids.looks_like_uuid(name)}
    found = await _ids_by_name(database, tenant, {*above, *above.values()})
    tables = {asset_id for name in set(above.values()) for asset_id in found.get(name, ())}
    in_graph = await _columns_in_graph(database, tenant, tables)
    others: dict[str, set[str]] = {}
    for name in above:
        own, stored = ids.asset_id(tenant, name), found.get(name, ())
        if not (as_written and own in stored):
            others[name] = {*stored, *in_graph.get(fold(name), ())} - {own}
    strangers = tables - {ids.asset_id(tenant, name) for name in above.values()}  # whose names differ in case
    wanted_ids = {asset_id for alike in others.values() for asset_id in alike}
    facts = await read_facts(database, tenant, {*references, *wanted_ids, *strangers}, wanted, earlier)
    listed = _below({name: above[name] for name in others}, found, facts) if strangers else {}
    columns = {one for names in listed.values() for one in names}
    known = facts | (await read_facts(database, tenant, columns, wanted) if columns else {})
    return {
        name: _distinct(known[one] for one in (name, *others.get(name, ()), *listed.get(name, ())))
        for name in references
    }


async def columns_below(database: Fetches, tenant: str, tables: Collection[str]) -> list[str]:
    """The qualified names of those columns of these tables that PostgreSQL knows. The tables are named in any case."""
    found = await _ids_by_name(database, tenant, tables)
    listed = id_array({asset_id for alike in found.values() for asset_id in alike})
    rows = await database.fetch(tenant, query("policies/columns_below"), {"tables": listed})
    return [name for (name,) in rows]


async def _ids_by_name(database: Fetches, tenant: str, names: Collection[str]) -> dict[str, list[str]]:
    rows = await database.fetch(tenant, query("policies/ids_in_any_case"), {"names": list(names)}) if names else []
    found: dict[str, list[str]] = {}
    for name, asset_id in rows:
        found.setdefault(name, []).append(asset_id)
    return found


async def _columns_in_graph(database: Fetches, tenant: str, tables: Collection[str]) -> dict[str, list[str]]:
    """By folded name."""
    if not tables:
        return {}
    rows = await database.fetch(tenant, query("policies/columns_in_graph"), {"tables": id_array(tables)})
    found: dict[str, list[str]] = {}
    for asset_id, name in rows:
        found.setdefault(fold(name), []).append(asset_id)
    return found


def _below(
    above: Mapping[str, str], found: Mapping[str, list[str]], facts: Mapping[str, Facts | None]
) -> dict[str, list[str]]:
    """By name: the columns that it may mean of tables whose names differ in case. Only the lake may have them."""
    listed: dict[str, list[str]] = {}
    for name, table_name in above.items():
        tables = (facts.get(asset_id) for asset_id in found.get(table_name, ()))
        listed[name] = [
            table.qualified_name + name[len(table_name) :]
            for table in tables
            if table is not None and table.entity_type in TABLE_TYPES and name != table_name
        ]
    return listed


def _distinct(candidates: Iterable[Facts | None]) -> list[Facts]:
    return list({facts.id: facts for facts in candidates if facts is not None}.values())
