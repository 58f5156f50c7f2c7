"""Assets whose names differ from a given one only in case: engines do not agree on the case of names."""

from collections.abc import Collection

from lily.model import ids
from lily.policy import Facts
from lily.store.postgres.policies.facts import TABLE_TYPES, Wanted, read_facts
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches


async def read_candidates(
    database: Fetches, tenant: str, references: Collection[str], wanted: Wanted
) -> dict[str, list[Facts]]:
    """By reference: the asset; for a name that no asset has as written, those that have it in another case."""
    facts = await read_facts(database, tenant, references, wanted)
    names = [name for name, found in facts.items() if found is None and not ids.looks_like_uuid(name)]
    others = await facts_in_any_case(database, tenant, names, wanted) if names else {}
    return {name: [found] if found is not None else others.get(name, []) for name, found in facts.items()}


async def facts_in_any_case(
    database: Fetches, tenant: str, names: Collection[str], wanted: Wanted
) -> dict[str, list[Facts]]:
    """By name: the assets of that name in any case, else the columns of that name of tables in any case. Names of which
    there is neither are left out."""
    found = await _stored(database, tenant, names, wanted)
    columns = {name: ids.name_prefix(name) for name in names if name not in found and ids.name_prefix(name) != name}
    tables = await _stored(database, tenant, set(columns.values()), wanted) if columns else {}
    below = {
        name: [
            table.qualified_name + name[len(above) :]
            for table in tables.get(above, ())
            if table.entity_type in TABLE_TYPES
        ]
        for name, above in columns.items()
    }
    references = {reference for listed in below.values() for reference in listed}
    facts = await read_facts(database, tenant, references, wanted) if references else {}
    for name, listed in below.items():
        known = [fact for reference in listed if (fact := facts[reference]) is not None]
        if known:
            found[name] = known
    return found


async def _stored(database: Fetches, tenant: str, names: Collection[str], wanted: Wanted) -> dict[str, list[Facts]]:
    rows = await database.fetch(tenant, query("policies/ids_in_any_case"), {"names": list(names)})
    if not rows:
        return {}
    facts = await read_facts(database, tenant, {asset_id for _, asset_id in rows}, wanted)
    found: dict[str, list[Facts]] = {}
    for name, asset_id in rows:
        if (fact := facts[asset_id]) is not None:
            found.setdefault(name, []).append(fact)
    return found
