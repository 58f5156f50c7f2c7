"""The assets that a search by rank looks at, in the order of the ranks: so many at a time, however many there are."""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from lily.model.errors import Problem, Refused
from lily.model.search_terms import search_terms
from lily.store.postgres.catalogue.words import patterns, ranks, with_terms
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches

RANKS = 4
# Assets that are looked at one by one to learn how common something is: 5 ms. Up to three times as many that a filter
# leaves, or that have a word in a sixteenth of the catalogue, are looked at as well.
FEW = 600
MOST = 10_000  # assets that a page looks at: 150 ms
AMONG_CANDIDATES: LiteralString = "assets.id = any (%(candidates)s::uuid[])"
# The rank, and the id read backwards, because the index of words is cut by the last digit. On one line, for a comment
# names it too.
RANK_KEY: Final[LiteralString] = (
    "(case when assets.id = any (%(rank_1)s::uuid[]) then '1' when assets.id = any (%(rank_2)s::uuid[]) then '2' "
    "when assets.id = any (%(rank_3)s::uuid[]) then '3' else '4' end || reverse(assets.id::text)) collate \"C\""
)
PLACE = "*"  # after the rank, in the key of a place that is not that of a match
_KEY = re.compile(r"[1-4](\*|[0-9a-f]|[0-9a-f-]{36})")  # the second as long as there are pages from an older version


@dataclass(frozen=True, slots=True)
class Candidates:
    """Ids with their ranks, in order."""

    ids: Mapping[str, int]
    place: tuple[str, str] | None = None  # where looking for more ended; None if there are no more, or enough

    @property
    def last(self) -> tuple[str, str]:
        """The place after which the next ones come."""
        asset_id, rank = list(self.ids.items())[-1]
        return rank_key(rank, asset_id), asset_id

    def parameters(self) -> dict[str, Any]:
        by_rank = {
            f"rank_{rank}": id_array(one for one, of in self.ids.items() if of == rank) for rank in range(1, RANKS)
        }
        return {"candidates": id_array(self.ids), **by_rank}


NO_CANDIDATES = Candidates({})


def rank_key(rank: int, asset_id: str) -> str:
    """By which a list is sorted."""
    return f"{rank}{asset_id[::-1]}"


async def next_candidates(
    database: Fetches,
    tenant: str,
    filters: Mapping[Any, str],
    after: tuple[str, str] | None,
    *,
    protective: Container[str] = (),
    with_deleted: bool,
    wanted: int,
) -> Candidates:
    """Those that match `q` and the filters by type, source, owner and tag. Raises Refused for a place that is none."""
    key, asset_id = after or ("1", None)
    if asset_id is not None and not _KEY.fullmatch(key):
        raise Refused(Problem("INVALID_CURSOR", "the cursor has no rank; start again without a cursor", "cursor"))
    prefixes, tag = search_terms(filters["q"]), filters.get("tag")
    parameters = {
        "queries": ranks(prefixes),
        "words": [*(with_terms([prefix]) for prefix in prefixes), with_terms(prefixes)],
        "patterns": patterns(prefixes),
        "rank": int(key[0]),
        "after": asset_id,
        "wanted": wanted,
        "type": filters.get("entity_type"),
        "source": filters.get("data_source"),
        "owner": filters.get("owner"),
        "tag": tag,
        "is_protective": tag in protective,
        "deleted": with_deleted,
        "few": FEW,
        "most": MOST,
    }
    rows = await database.fetch(tenant, query("catalogue/candidates"), parameters)
    found = {asset_id: rank for asset_id, rank, is_match in rows if is_match}
    place = next(((f"{rank}{PLACE}", at) for at, rank, is_match in rows if not is_match), None)
    return Candidates(found, place)
