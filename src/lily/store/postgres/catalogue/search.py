"""Searches and lists assets with keyset pagination: every page costs the same, however deep in the list it is."""

from collections.abc import Mapping
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
    NO_CANDIDATES,
    RANK_KEY,
    Candidates,
    next_candidates,
)
from lily.store.postgres.catalogue.hidden import hidden_conditions, hidden_parameters, hides_from_elsewhere
from lily.store.postgres.catalogue.words import with_terms
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
_PROTECTIVE_TAG: Final = """assets.id = any (array(
    select ids_by_stated(%(tag)s)
    union
    select d.asset_id from derived_tags d
    where d.tenant_id = %(tenant)s and d.tag = %(tag)s and d.kind <> 'inherited'
  )) and (%(tag)s = any (stated) or %(tag)s <> all (suppressed))"""
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
    return await _page(database, tenant, request, rules, NO_CANDIDATES)


async def _by_rank(database: Database, tenant: str, request: SearchRequest, rules: TagRules) -> SearchResult:
    """Takes the next candidates until the page is full, for a few rounds: then the page is shorter, with a place where
    the next one starts."""
    found: list[StoredAsset] = []
    wanted, rest = _examined_at_most(request), request
    for _ in range(ROUNDS):
        candidates = await next_candidates(
            database, tenant, rest.filters, rest.after, with_deleted=rest.include_deleted, wanted=wanted
        )
        page = await _page(database, tenant, rest, rules, candidates)
        found += page.assets
        more = page.last or (candidates.last if len(candidates.ids) == wanted else None)
        if more is None or len(found) == request.limit:
            return SearchResult(found, more)
        rest = replace(rest, after=more, limit=request.limit - len(found))
    return SearchResult(found, rest.after)


async def _page(
    database: Database, tenant: str, request: SearchRequest, rules: TagRules, candidates: Candidates
) -> SearchResult:
    parameters = _parameters(request) | {"tags": rules.propagating_array, "cut": rules.cut_deleted}
    parameters |= candidates.parameters()
    rows = await database.fetch(tenant, _statement(request, rules), parameters)
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


def _statement(request: SearchRequest, rules: TagRules) -> sql.Composed:
    key, kind = _KEYS[request.sort]
    conditions: list[LiteralString] = [_CONDITIONS[name] for name in FILTERS if name in request.filters]
    if request.sort == "rank":
        conditions = [AMONG_CANDIDATES if text == _CONDITIONS["q"] else text for text in conditions]
    if request.filters.get("tag") in rules.protective:
        conditions = [_PROTECTIVE_TAG if text == _CONDITIONS["tag"] else text for text in conditions]
    if not request.include_deleted:
        conditions.append("not is_deleted")
    conditions += hidden_conditions(request.hidden)
    if request.after is not None:
        beyond: LiteralString = ">" if request.order == "asc" else "<"
        conditions.append(f"({key}, id) {beyond} (%(key)s::{kind}, %(id)s::uuid)")
    name = "catalogue/search_visible" if hides_from_elsewhere(request.hidden) else "catalogue/search"
    return sql.SQL(query(name)).format(
        columns=_COLUMNS,
        key=sql.SQL(key),
        direction=sql.SQL(request.order),
        conditions=sql.SQL(" and ").join([sql.SQL(text).format() for text in conditions or ["true"]]),
    )


def _parameters(request: SearchRequest) -> dict[str, Any]:
    key, asset_id = request.after or (None, None)
    filters: dict[str, str] = {str(name): text for name, text in request.filters.items()}
    if "q" in filters and request.sort != "rank":
        filters["q"] = with_terms(search_terms(filters["q"]))
    hidden = hidden_parameters(request.hidden) if request.hidden.keys else {}
    page = {"key": key, "id": asset_id, "limit": request.limit + 1, "examined": _examined_at_most(request)}
    return {**filters, **hidden, **page}


def _text(key: Any) -> str:
    return clock.stamp(key) if isinstance(key, datetime) else str(key)
