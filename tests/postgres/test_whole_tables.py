"""Every column of a table that has to be readable as it is: what is not found would be shown elsewhere."""

import asyncio
from collections.abc import Callable

from lily.api.enforcement.whole_tables import named_columns, unnamed
from lily.policy import Policy
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.policies.facts import Wanted
from tests.api_database import opened
from tests.lineage_world import World
from tests.policy_examples import policy
from tests.postgres.migrated import Migrated

TABLE = "lake.crm.people"


async def tags_of_columns(url: str, tenant: str, policies: list[Policy]) -> dict[str, set[str]]:
    """By the name of each column, or by its id."""
    async with opened(url) as database:
        rules = await read_tag_rules(database, tenant)
        wanted = Wanted(rules, rules.protective, attributes=False)
        columns = await named_columns(database, tenant, policies, [TABLE])
        facts = await read_candidates(database, tenant, [TABLE, *columns[TABLE]], wanted)
        more = await unnamed(database, tenant, columns, facts, wanted)
    found = {name: facts[name] for name in columns[TABLE]} | {one: more.facts[one] for one in more.columns[TABLE]}
    return {name: {tag for one in several for tag in one.tags} for name, several in found.items()}


def test_columns_are_found_however_they_are_known(migrated: Migrated, make_world: Callable[[], World]) -> None:
    world = make_world()
    world.asset("LAKE.crm.People")
    world.asset("crm.persons.mail", tags=["PII"])
    world.typed("column", f"{TABLE}.id", parent="LAKE.crm.People")
    world.typed("column", f"{TABLE}.Phone", tags=["PII"])  # states no parent
    world.edge("crm.persons.mail", "LAKE.crm.People.Mail")  # nobody ingested it
    world.settle()
    named = [policy("by name", "mask", resources=[{"asset": f"{TABLE.upper()}.PLAIN"}], mask="replace-with-null")]
    assert asyncio.run(tags_of_columns(migrated.url_of("lily_api"), world.tenant, named)) == {
        f"{TABLE}.id": set(),
        f"{TABLE}.Phone": {"pii"},
        f"{TABLE.upper()}.PLAIN": set(),
        world.id_of("LAKE.crm.People.Mail"): {"pii"},
    }
