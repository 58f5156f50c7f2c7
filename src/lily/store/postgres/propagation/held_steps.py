"""Which explanations of derived tags rest on edges that are held: that have ended without authority."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from lily.store.postgres.propagation.tag_paths import Derivation
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


async def mark_held(database: Database, tenant: str, found: Sequence[Derivation]) -> list[Derivation]:
    """The same derivations; those with such an edge on their path are `held`."""
    steps = [(number, one.tag, *step) for number, one in enumerate(found) for step in pairwise(one.path)]
    if not steps:
        return list(found)
    columns = dict(zip(("numbers", "tags", "froms", "tos"), map(list, zip(*steps, strict=True)), strict=True))
    rows = await database.fetch(tenant, query("propagation/held_steps"), columns)
    held = {number for (number,) in rows}
    return [replace(one, held=True) if number in held else one for number, one in enumerate(found)]
