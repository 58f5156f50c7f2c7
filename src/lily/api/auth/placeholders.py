"""What decisions need to know of placeholders: assets that only edges have named (docs/decisions/0041)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from lily.model import ids
from lily.policy import Ancestor, Facts
from lily.policy.candidates import unknown_facts
from lily.store.postgres.graph.placeholders import named_ends
from lily.store.postgres.policies.facts import Wanted, read_facts
from lily.store.postgres.sessions import Database

CHUNK = 500  # placeholders of one query: each is read with the names above it
NEAREST = FARTHEST = 32  # names above one: a name may have hundreds of parts


async def facts_of_placeholders(
    database: Database, tenant: str, asset_ids: Collection[str], wanted: Wanted
) -> dict[str, Facts]:
    """By id, of those that edges have named. Nothing states their parents, so every name that theirs begins with counts
    as an ancestor, whether it is ingested or not: a policy about a schema covers a table of it that is not."""
    facts: dict[str, Facts] = {}
    names = await named_ends(database, tenant, asset_ids)
    waiting = iter(names.items())
    while some := list(islice(waiting, CHUNK)):
        references = {reference for _, name in some for reference in (name, *_above(name))}
        found = await read_facts(database, tenant, references, wanted)
        facts |= {asset: _facts(tenant, name, found) for asset, name in some}
    return facts


def _facts(tenant: str, name: str, found: Mapping[str, Facts | None]) -> Facts:
    own = found.get(name) or unknown_facts(tenant, name)
    above = [found.get(one) or unknown_facts(tenant, one) for one in _above(name)]
    ancestors = [*own.ancestors, *(one for facts in above for one in (_ancestor(facts), *facts.ancestors))]
    source = own.data_source or next((facts.data_source for facts in above if facts.data_source), "")
    tags = {tag for facts in (own, *above) for tag in facts.tags}
    return replace(own, ancestors=tuple(dict.fromkeys(ancestors)), tags=tags, data_source=source)


def _ancestor(facts: Facts) -> Ancestor:
    return Ancestor(facts.id, facts.qualified_name)


def _above(name: str) -> Sequence[str]:
    """The names that this one begins with, the longest first."""
    above = list(_prefixes(name))
    return above if len(above) <= NEAREST + FARTHEST else [*above[:NEAREST], *above[-FARTHEST:]]


def _prefixes(name: str) -> Iterator[str]:
    while (prefix := ids.name_prefix(name)) != name:
        yield prefix
        name = prefix
