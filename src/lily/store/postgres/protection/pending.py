"""Reads what ended without authority and still conducts protective tags: page by page, and one by one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lily.lineage.pending import KINDS, PendingId, PendingKind, ReviewedId, digest_of
from lily.lineage.tag_rules import TagRules
from lily.store.postgres.asset_rows import derived_tags_of
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

MAX_READS = 40  # of one page: much may be held along which no tag passes
CANDIDATES = 100  # per read

_NO_ID = "00000000-0000-0000-0000-000000000000"
_START = {"after": _NO_ID, "second": _NO_ID, "third": _NO_ID, "text": "", "at": "-infinity"}
# The columns of each kind's candidates. All but the time are the keys of the item.
_COLUMNS: dict[PendingKind, tuple[str, ...]] = {
    "tag": ("after", "text"),
    "parent": ("after", "second"),
    "edge": ("at", "after", "second", "text"),
    "claim": ("at", "after", "second", "third", "text"),
    "deletion": ("after",),
}
_KEY_COLUMNS = {"after": "first", "second": "second", "third": "third", "text": "texts"}

Position = tuple[PendingKind, tuple[str, ...]]  # a kind, and the candidate after which the next page begins


class PendingItem(NamedTuple):
    id: PendingId
    tags: tuple[str, ...]  # their keys
    ended_by: str | None  # as far as the history goes
    ended_at: str | None
    held_at: str = ""  # of a claim: the clock from which it counted

    @property
    def reviewed(self) -> ReviewedId:
        """Its id as it is shown now: a decision by this id is about what was shown, not about what comes later."""
        return ReviewedId(self.id, digest_of(sorted(self.tags), self.ended_by, self.ended_at, self.held_at))


class PendingPage(NamedTuple):
    items: list[PendingItem]
    next: Position | None


async def read_pending(
    database: Database, tenant: str, rules: TagRules, *, after: Position | None, limit: int
) -> PendingPage:
    """Kind by kind. A page may have fewer items than `limit` and still have a next one."""
    items: list[PendingItem] = []
    kind, place = after or (KINDS[0], ())
    for _ in range(MAX_READS):
        rows = await _candidates(database, tenant, kind, place) if kind != "deletion" or rules.cut_deleted else []
        keys = [PendingId(kind, row[_COLUMNS[kind][0] == "at" :]) for row in rows]
        for item in await find_pending(database, tenant, rules, keys):
            items.append(item)
            place = rows[keys.index(item.id)]
            if len(items) == limit:
                return PendingPage(items, (kind, place))
        if len(rows) == CANDIDATES:
            place = rows[-1]
        elif kind == KINDS[-1]:
            return PendingPage(items, None)
        else:
            kind, place = KINDS[KINDS.index(kind) + 1], ()
    return PendingPage(items, (kind, place))


async def find_pending(
    database: Database, tenant: str, rules: TagRules, wanted: Sequence[PendingId]
) -> list[PendingItem]:
    """Those of the items that are pending, in the same order."""
    found: dict[PendingId, PendingItem] = {}
    for kind in KINDS:
        keys = [one for one in wanted if one.kind == kind]
        if not keys:
            continue
        rows = await database.fetch(tenant, query(f"protection/pending/{kind}_details"), _parameters(kind, keys, rules))
        items = {keys[row[0]]: PendingItem(keys[row[0]], tuple(row[1]), *row[2:]) for row in rows}
        found |= await _passed_down(database, tenant, rules, items) if kind == "parent" else items
    return [found[one] for one in dict.fromkeys(wanted) if one in found]


async def passing_beside(database: Database, tenant: str, one: PendingId) -> set[str]:
    """The tags that pass another edge between the ends of an edge."""
    start, end, kind = one.edge
    parameters = {"from": start, "to": end, "type": kind}
    return {tag for (tag,) in await database.fetch(tenant, query("protection/pending/parallel_edges"), parameters)}


async def _candidates(
    database: Database, tenant: str, kind: PendingKind, place: tuple[str, ...]
) -> list[tuple[str, ...]]:
    given = dict(zip(_COLUMNS[kind], place, strict=True)) if place else {}
    parameters = {**_START, **given, "limit": CANDIDATES}
    return await database.fetch(tenant, query(f"protection/pending/{kind}s"), parameters)


def _parameters(kind: PendingKind, keys: Sequence[PendingId], rules: TagRules) -> dict[str, Any]:
    columns = [_KEY_COLUMNS[name] for name in _COLUMNS[kind] if name != "at"]
    listed = {name: [one.keys[place] for one in keys] for place, name in enumerate(columns)}
    about = {"numbers": list(range(len(keys))), "protective": rules.protective_array, "cut": rules.cut_deleted}
    return {**listed, **about}


async def _passed_down(
    database: Database, tenant: str, rules: TagRules, items: dict[PendingId, PendingItem]
) -> dict[PendingId, PendingItem]:
    """Those of the held parents that pass protective tags down, with the tags: what each would inherit as its own
    child."""
    parents = sorted({one.keys[1] for one in items})
    if not parents:
        return {}
    parameters = {
        "tags": rules.propagating_array,
        "cut": rules.cut_deleted,
        "ids": id_array(parents),
        "parents": id_array(parents),
    }
    rows = await database.fetch(tenant, query("catalogue/derived_tags"), parameters)
    tags = {parent: sorted(derived_tags_of(rules, *of).inherited.keys() & rules.protective) for parent, *of in rows}
    return {one: item._replace(tags=tuple(tags[one.keys[1]])) for one, item in items.items() if tags.get(one.keys[1])}
