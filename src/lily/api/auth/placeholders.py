"""What decisions need to know of placeholders: assets that only edges have named (docs/decisions/0041)."""

from collections.abc import Collection

from lily.policy import Facts
from lily.store.postgres.graph.placeholders import named_ends
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.policies.names_above import facts_with_names_above
from lily.store.postgres.sessions import Database


async def facts_of_placeholders(
    database: Database, tenant: str, asset_ids: Collection[str], wanted: Wanted
) -> dict[str, Facts]:
    """By id, of those that edges have named."""
    names = await named_ends(database, tenant, asset_ids)
    facts = await facts_with_names_above(database, tenant, set(names.values()), wanted)
    return {asset: facts[name] for asset, name in names.items()}
