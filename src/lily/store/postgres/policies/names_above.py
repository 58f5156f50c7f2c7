"""What decisions need to know of names that may not be assets yet."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import islice

from lily.policy import Ancestor, Facts
from lily.policy.candidates import unknown_facts
from lily.policy.names_above import prefixes
from lily.store.postgres.policies.facts import Wanted, read_facts
from lily.store.postgres.sessions import Fetches

CHUNK = 500  # names of one query: each is read with the names above it


async def facts_with_names_above(
    database: Fetches, tenant: str, names: Collection[str], wanted: Wanted
) -> dict[str, Facts]:
    """By name. Nothing states the parents of what is not ingested, and not a column of an ingested table. So every name
    that its own begins with counts as an ancestor, ingested or not: a policy about a schema covers its tables."""
    facts: dict[str, Facts] = {}
    waiting = iter(names)
    while some := list(islice(waiting, CHUNK)):
        references = {reference for name in some for reference in (name, *prefixes(name))}
        found = await read_facts(database, tenant, references, wanted)
        facts |= {name: _facts(tenant, name, found) for name in some}
    return facts


def _facts(tenant: str, name: str, found: Mapping[str, Facts | None]) -> Facts:
    own = found.get(name) or unknown_facts(tenant, name)
    if own.entity_type:
        return own
    above = [found.get(one) or unknown_facts(tenant, one) for one in prefixes(name)]
    ancestors = [*own.ancestors, *(one for facts in above for one in (_ancestor(facts), *facts.ancestors))]
    source = own.data_source or next((facts.data_source for facts in above if facts.data_source), "")
    tags = {tag for facts in (own, *above) for tag in facts.tags}
    return replace(own, ancestors=tuple(dict.fromkeys(ancestors)), tags=tags, data_source=source)


def _ancestor(facts: Facts) -> Ancestor:
    return Ancestor(facts.id, facts.qualified_name)
