"""An engine writes names in lower case, by the rules of Unicode: a stored name that has other letters is found too."""

import asyncio
from collections.abc import Callable

import pytest

from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.policies.facts import Wanted
from tests.api_database import opened
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

TABLE = "lake.crm.people"


async def tags_of(url: str, tenant: str, name: str, *, known: bool = False) -> set[str]:
    """Of all that the name may mean, or of what is `known` to be in the catalogue."""
    async with opened(url) as database:
        rules = await read_tag_rules(database, tenant)
        wanted = Wanted(rules, rules.protective, attributes=False)
        found = await read_candidates(database, tenant, [name], wanted)
    return {tag for facts in found[name] if not (known and facts.restricts_only) for tag in facts.tags}


@pytest.mark.parametrize("column", ["EMAIL", "ÉMAIL", "ΣΑΣ", "İSTANBUL", "STRAẞE"])
def test_a_column_is_found_in_lower_case(migrated: Migrated, make_world: Callable[[], World], column: str) -> None:
    world = make_world()
    world.asset(TABLE)
    world.asset(f"{TABLE}.{column}", parent=TABLE, tags=["PII"])
    world.settle()
    found = tags_of(migrated.url_of("lily_api"), world.tenant, f"{TABLE}.{column.lower()}")
    assert asyncio.run(found) == {"pii"}


def test_so_is_a_table_with_what_it_has(migrated: Migrated, make_world: Callable[[], World]) -> None:
    world = make_world()
    world.asset("lake.crm.ÄRZTE", tags=["PII"])
    world.settle()
    assert asyncio.run(tags_of(migrated.url_of("lily_api"), world.tenant, "lake.crm.ärzte.name")) == {"pii"}


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("LAKE.CRM.PEOPLE", "MAIL"),
        ("LAKE.CRM.PEOPLE", "mail"),
        ("lake.crm.people", "MAIL"),
        ("Lake.CRM.people", "MAIL"),
    ],
)
def test_so_is_a_column_that_only_an_edge_names(
    migrated: Migrated, make_world: Callable[[], World], table: str, column: str
) -> None:
    """Edges have ids, so it is looked for by the spellings that are usual."""
    world = make_world()
    world.asset(table)
    world.asset("crm.persons.mail", tags=["PII"])
    world.edge("crm.persons.mail", f"{table}.{column}")
    asked = f"{TABLE}.mail"
    assert asyncio.run(tags_of(migrated.url_of("lily_api"), world.tenant, asked)) == {"pii"}
    world.settle()
    assert asyncio.run(tags_of(migrated.url_of("lily_api"), world.tenant, asked)) == {"pii"}
    assert asyncio.run(tags_of(migrated.url_of("lily_api"), world.tenant, f"{TABLE}.id")) == set()


@pytest.mark.parametrize("kind", ["table", "view", "dataset"])
@pytest.mark.parametrize("stated", ["dashboard", "table", "dataset"])
def test_stating_a_column_to_be_something_else_leaves_it_the_tags_of_its_table(
    migrated: Migrated, make_world: Callable[[], World], kind: str, stated: str
) -> None:
    """What is directly below the name of a table is a column of it, whatever somebody ingests under that name."""
    world = make_world()
    world.typed(kind, TABLE, tags=["PII"])
    world.typed(stated, f"{TABLE}.email")
    world.settle()
    assert asyncio.run(tags_of(migrated.url_of("lily_api"), world.tenant, f"{TABLE}.email")) == {"pii"}


def test_a_long_name_can_be_stored(make_world: Callable[[], World]) -> None:
    """Folded it is three times as long, more than an entry of an index holds."""
    world = make_world()
    table = "ΐ" * 250
    world.column(f"{table}.{table}", table)
    world.settle()
