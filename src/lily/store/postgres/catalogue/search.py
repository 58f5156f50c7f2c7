"""Searches and lists assets with keyset pagination: every page costs the same, however deep in the list it is."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, LiteralString, get_args

from psycopg import sql

from lily.lineage.tag_rules import TagRules
from lily.model import clock
from lily.model.search_terms import search_terms
from lily.policy import AssetSet
from lily.policy.visibility import NO_ASSETS
from lily.store.assets import StoredAsset
from lily.store.postgres.asset_rows import COLUMNS, asset_of
from lily.store.postgres.catalogue.candidates import (
    AMONG_CANDIDATES,
    FEW,
    MOST,
    NO_CANDIDATES,
    RANK_KEY,
    Candidates,
    next_candidates,
)
from lily.store.postgres.catalogue.hidden import hidden_conditions, hidden_parameters, hides_from_elsewhere
from lily.store.postgres.catalogue.words import patterns, with_terms
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database, Row

Sort = Literal["id", "name", "qualified_name", "entity_type", "created_at", "updated_at"]
Sorting = Sort | Literal["rank"]  # by how well it matches `q`; always ascending
Order = Literal["asc", "desc"]
Filter = Literal["q", "entity_type", "tag", "data_source", "owner", "parent", "at_risk"]

# An asset has no name while only a user layer exists. A null would drop out of the keyset comparison. With row-level
# security an index can compare what case returns, but not what coalesce does.
_KEYS: dict[Sorting, tuple[LiteralString, LiteralString]] = {
    "id": ("assets.id", "uuid"),
    "name": ("case when name is null then '' else name end", "text"),
    "qualified_name": ("qualified_name", "text"),
    "entity_type": ("coalesce(entity_type, '')", "text"),
    "created_at": ("created_at", "timestamptz"),
    "updated_at": ("updated_at", "timestamptz"),
    "rank": (RANK_KEY, "text"),
}
_CONDITIONS: dict[Filter, LiteralString] = {
    "q": "assets.id = any (array(select ids_by_words(%(q)s)))",
    "entity_type": "entity_type = %(entity_type)s",
    "tag": "assets.id = any (array(select ids_by_tag(%(tag)s)))",  # of a tag that does not propagate
    "data_source": "data_source = %(data_source)s",
    "owner": "owner = %(owner)s",
    "parent": "parent = %(parent)s",
    "at_risk": "exists (select from at_risk r where r.tenant_id = %(tenant)s and r.asset_id = assets.id)",
}
# A protective tag counts in any layer, and also if it was propagated along edges and not suppressed.
_PROTECTIVE_TAG: Final = """assets.id = any (array(select ids_by_protective_tag(%(tag)s)))
  and (%(tag)s = any (stated) or %(tag)s <> all (suppressed))"""
# Of what very many assets have: asked of one asset after the other.
_OF_EACH: Final[dict[Filter, LiteralString]] = {
    "q": "has_words(tenant_id, assets.id, name, qualified_name, owner, described, %(q)s, %(patterns)s::text[])",
    "tag": "%(tag)s = any (tags)",
}
_PROTECTIVE_TAG_OF_EACH: Final = "has_protective_tag(%(tag)s, tenant_id, assets.id, stated, suppressed)"
FILTERS: tuple[Filter, ...] = get_args(Filter)
ROUNDS = 5  # of looking for more candidates
EXAMINED = 2  # times the length of a page: assets whose ancestors are looked up to fill it
_FIRST = "00000000-0000-0000-0000-000000000000"  # no asset has this id
_COLUMNS = sql.SQL(query("catalogue/asset_columns"))


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Filters in stored form (`tag` is the tag's key, `parent` an id), order and page. Assets in `hidden` are left
    out as far as the stores can decide; the caller leaves out the rest."""

    filters: Mapping[Filter, str]
    include_deleted: bool
    sort: Sorting
    order: Order
    limit: int
    after: tuple[str, str] | None = None  # the sort key and the id of the previous page's last item
    hidden: AssetSet = NO_ASSETS

    @property
    def by_lineage(self) -> bool:
        """Whether it lists what a tag or a risk reached along edges: of the lake only that."""
        return "tag" in self.filters or "at_risk" in self.filters


@dataclass(frozen=True, slots=True)
class SearchResult:
    assets: list[StoredAsset]
    last: tuple[str, str] | None  # where the next page starts; None on the last page


async def search(database: Database, tenant: str, request: SearchRequest, rules: TagRules) -> SearchResult:
    if request.sort == "rank":
        return await _by_rank(database, tenant, request, rules)
    broad = await _broad_filters(database, tenant, request, rules)
    page = await _page(database, tenant, request, rules, broad=broad)
    if broad and page.last is None:
        return SearchResult(page.assets, await _end_of_walk(database, tenant, request, rules, broad))
    return page


async def _broad_filters(database: Database, tenant: str, request: SearchRequest, rules: TagRules) -> frozenset[Filter]:
    """The filters with an index of their own that very many assets meet: too many to sort them all for a page."""
    asked = frozenset(_OF_EACH) & request.filters.keys()
    if not asked or "parent" in request.filters:
        return frozenset()
    parameters = {
        "q": with_terms(search_terms(request.filters["q"])) if "q" in asked else None,
        "tag": request.filters.get("tag"),
        "is_protective": request.filters.get("tag") in rules.protective,
        "limit": 3 * FEW + 1,
    }
    ((words, tagged),) = await database.fetch(tenant, query("catalogue/matches"), parameters)
    counts: dict[Filter, int] = {"q": words, "tag": tagged}
    return frozenset(name for name in asked if counts[name] > 3 * FEW)


async def _end_of_walk(
    database: Database, tenant: str, request: SearchRequest, rules: TagRules, broad: Collection[Filter]
) -> tuple[str, str] | None:
    """The last asset that was looked at for a page; None if there are no more."""
    statement = _statement(request, rules, broad, name="catalogue/end_of_walk")
    rows = await database.fetch(tenant, statement, _parameters(request) | {"most": MOST})
    return (_text(rows[0][0]), rows[0][1]) if rows else None


async def _by_rank(database: Database, tenant: str, request: SearchRequest, rules: TagRules) -> SearchResult:
    """Takes the next candidates until the page is full, for a few rounds: then the page is shorter, with a place where
    the next one starts."""
    found: list[StoredAsset] = []
    wanted, rest = _examined_at_most(request), request
    for _ in range(ROUNDS):
        candidates = await next_candidates(
            database,
            tenant,
            rest.filters,
            rest.after,
            protective=rules.protective,
            with_deleted=rest.include_deleted,
            wanted=wanted,
        )
        page = await _page(database, tenant, rest, rules, candidates=candidates, broad=frozenset(_OF_EACH))
        found += page.assets
        more = page.last or candidates.place or (candidates.last if len(candidates.ids) == wanted else None)
        if more is None or len(found) == request.limit or (page.last is None and candidates.place is not None):
            return SearchResult(found, more)
        rest = replace(rest, after=more, limit=request.limit - len(found))
    return SearchResult(found, rest.after)


async def _page(
    database: Database,
    tenant: str,
    request: SearchRequest,
    rules: TagRules,
    *,
    candidates: Candidates = NO_CANDIDATES,
    broad: Collection[Filter] = (),
) -> SearchResult:
    parameters = _parameters(request) | {"tags": rules.propagating_array, "cut": rules.cut_deleted, "most": MOST}
    parameters |= candidates.parameters()
    rows = await database.fetch(tenant, _statement(request, rules, broad), parameters)
    if hides_from_elsewhere(request.hidden):
        rows, last = _examined(rows, request)
    else:
        last = _position(rows[request.limit - 1]) if len(rows) > request.limit else None
    return SearchResult([asset_of(tenant, row, rules) for row in rows[: request.limit]], last)


def _examined(rows: list[Row], request: SearchRequest) -> tuple[list[Row], tuple[str, str] | None]:
    """The assets, and where the next page starts: after the last asset of a full page, else after the last that was
    examined, if there may be more."""
    number, last_key, last_id = rows[0][COLUMNS + 1 : COLUMNS + 4]
    found = [row for row in rows if row[0] is not None]
    if len(found) > request.limit:
        return found, _position(found[request.limit - 1])
    return found, (_text(last_key), last_id) if number == _examined_at_most(request) else None


def _examined_at_most(request: SearchRequest) -> int:
    return EXAMINED * (request.limit + 1)


def _position(row: Row) -> tuple[str, str]:
    return _text(row[COLUMNS]), str(row[0])


async def lake_assets_by_lineage(
    database: Database, tenant: str, filters: Mapping[Filter, str], *, start: str, limit: int
) -> list[str]:
    """The next ids, after `start`, of assets that only the lake has and that the tag and the risk of these filters
    reached along edges."""
    name: LiteralString = "catalogue/lake_assets_at_risk" if "at_risk" in filters else "catalogue/lake_assets_by_tag"
    parameters = {"tag": filters.get("tag"), "start": start or _FIRST, "limit": limit}
    return [asset_id for (asset_id,) in await database.fetch(tenant, query(name), parameters)]


def _statement(
    request: SearchRequest, rules: TagRules, broad: Collection[Filter] = (), name: LiteralString = ""
) -> sql.Composed:
    """`broad` are the filters that are asked of each asset: of the next `most` of the list, or of the candidates."""
    key, kind = _KEYS[request.sort]
    by_rank, walks = request.sort == "rank", bool(broad) and request.sort != "rank"
    plain = [_CONDITIONS[of] for of in FILTERS if of in request.filters and of not in (*broad, "tag")]
    if by_rank:
        plain.append(AMONG_CANDIDATES)
    conditions = list(_of_each(request, rules, broad))
    if "tag" in request.filters and "tag" not in broad:
        plain.append(_PROTECTIVE_TAG if request.filters["tag"] in rules.protective else _CONDITIONS["tag"])
    if not request.include_deleted:
        plain.append("not is_deleted")
    conditions += hidden_conditions(request.hidden)
    if request.after is not None and not by_rank:
        beyond: LiteralString = ">" if request.order == "asc" else "<"
        plain.append(f"({key}, id) {beyond} (%(key)s::{kind}, %(id)s::uuid)")
    visible = "catalogue/search_visible" if hides_from_elsewhere(request.hidden) else "catalogue/search"
    assets = sql.SQL(query("catalogue/walk") if walks else "assets")
    first = sql.SQL(key)
    return sql.SQL(query(name or visible)).format(
        columns=_COLUMNS,
        assets=assets.format(key=first, direction=sql.SQL(request.order), conditions=_all(plain)),
        key=sql.SQL("assets.walked_by") if walks else first,
        direction=sql.SQL(request.order),
        conditions=_all(conditions if walks else [*plain, *conditions]),
    )


def _of_each(request: SearchRequest, rules: TagRules, broad: Collection[Filter]) -> Iterator[LiteralString]:
    if "q" in broad and "q" in request.filters and request.sort != "rank":
        yield _OF_EACH["q"]
    if "tag" in broad and "tag" in request.filters:
        yield _PROTECTIVE_TAG_OF_EACH if request.filters["tag"] in rules.protective else _OF_EACH["tag"]


def _all(conditions: Iterable[LiteralString]) -> sql.Composed:
    return sql.SQL(" and ").join([sql.SQL(text).format() for text in conditions] or [sql.SQL("true").format()])


def _parameters(request: SearchRequest) -> dict[str, Any]:
    key, asset_id = request.after or (None, None)
    filters: dict[str, str] = {str(name): text for name, text in request.filters.items()}
    prefixes = search_terms(filters.get("q", ""))
    if "q" in filters and request.sort != "rank":
        filters["q"] = with_terms(prefixes)
    hidden = hidden_parameters(request.hidden) if request.hidden.keys else {}
    page = {"key": key, "id": asset_id, "limit": request.limit + 1, "examined": _examined_at_most(request)}
    return {**filters, **hidden, **page, "patterns": patterns(prefixes)}


def _text(key: Any) -> str:
    return clock.stamp(key) if isinstance(key, datetime) else str(key)
