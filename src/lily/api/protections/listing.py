"""What is pending, as the API shows it: with names, and with the assets that keep tags because of it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import StringConstraints, TypeAdapter

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Call
from lily.api.ingest.sql_edges import definition_job
from lily.lineage.pending import PendingId, PendingKind
from lily.model import ids
from lily.model.values import MAX_TAG
from lily.store.assets import StoredAsset
from lily.store.postgres.graph.placeholders import named_ends
from lily.store.postgres.protection.kept import KeptAssets
from lily.store.postgres.protection.pending import PendingItem, Position, read_pending
from lily.store.postgres.sessions import Database

MAX_PAGE = 100  # items: each follows its tags through the graph
MAX_KEPT = 100  # ids that are listed; `count` has all of them
MAX_PAGES = 5  # read for one page, where policies deny some of the assets to the caller

_Key = Annotated[str, StringConstraints(max_length=MAX_TAG)]
POSITION: TypeAdapter[Position] = TypeAdapter(tuple[PendingKind, tuple[_Key, ...]])


class Pages(NamedTuple):
    items: list[dict[str, Any]]
    next: Position | None


async def pending_page(call: Call, after: Position | None, limit: int) -> Pages:
    """Without what is about assets that a policy denies to the caller."""
    rules = await call.services.tag_rules.get(call.tenant)
    found: list[PendingItem] = []
    size = min(limit, MAX_PAGE)
    for _ in range(MAX_PAGES):
        page = await read_pending(call.services.database, call.tenant, rules, after=after, limit=size - len(found))
        found += await visible_items(call, page.items)
        after = page.next
        if after is None or len(found) == size:
            break
    return Pages(await _shown(call, found), after)


async def visible_items(call: Call, items: Sequence[PendingItem]) -> list[PendingItem]:
    denied = await denied_references(call, "READ", {asset for item in items for asset in item.id.assets})
    return [item for item in items if denied.keys().isdisjoint(item.id.assets)]


async def _shown(call: Call, items: Sequence[PendingItem]) -> list[dict[str, Any]]:
    rules = await call.services.tag_rules.get(call.tenant)
    named = sorted({asset for item in items for asset in item.id.assets})
    assets = await call.services.catalogue.find_many(call.tenant, named) if named else {}
    names = await names_of(call.services.database, call.tenant, items, assets)
    keeping = KeptAssets(call.services.database, call.tenant, rules, assets)
    kept = [await keeping.kept_by(item) for item in items]
    listed = [sorted(one.assets)[:MAX_KEPT] for one in kept]
    denied = await denied_references(call, "READ", {asset for kept_ids in listed for asset in kept_ids})
    return [
        {
            "id": str(item.reviewed),
            "kind": item.id.kind,
            **_about(item.id, names),
            "ended_by": item.ended_by,
            "ended_at": item.ended_at,
            "tags": list(rules.named(item.tags).values()),
            "keeps": _without(kept_ids, denied),
            "count": len(of.assets),
            "more": not of.complete,
        }
        for item, of, kept_ids in zip(items, kept, listed, strict=True)
    ]


async def names_of(
    database: Database, tenant: str, items: Sequence[PendingItem], assets: Mapping[str, StoredAsset]
) -> dict[str, str]:
    """By id: of assets, of what only edges have named, and of the definitions of tables and views in SQL, which claim
    edges as jobs do and are not assets."""
    names = {asset: stored.qualified_name for asset, stored in assets.items()}
    unknown = sorted({asset for item in items for asset in item.id.assets} - names.keys())
    names |= await named_ends(database, tenant, unknown) if unknown else {}
    for item in items:
        if item.id.kind == "claim" and item.id.keys[0] not in names:
            name = _definition(tenant, item.id.keys[0], names.get(item.id.edge.to_id))
            names |= {} if name is None else {item.id.keys[0]: name}
    return names


def _definition(tenant: str, job: str, target: str | None) -> str | None:
    """The name of the definition in SQL that claims an edge to a table, a column or a nested field."""
    at: str | None = None
    while target and target != at:
        at, target = target, ids.name_prefix(target)
        if ids.asset_id(tenant, definition_job(at)) == job:
            return definition_job(at)
    return None


def _about(one: PendingId, known: Mapping[str, str]) -> dict[str, Any]:
    """The ids of what the item is about, each with its name if it is known."""
    match one.kind:
        case "tag" | "deletion":
            ends = {"asset": one.keys[0]}
        case "parent":
            ends = {"from": one.keys[1], "asset": one.keys[0]}
        case "edge":
            ends = {"from": one.edge.from_id, "to": one.edge.to_id}
        case "claim":
            ends = {"from": one.edge.from_id, "to": one.edge.to_id, "job": one.keys[0]}
    names = {f"{end}_name": known.get(asset) for end, asset in ends.items()}
    return ends | names | ({"relationship_type": one.edge.type} if one.kind in {"edge", "claim"} else {})


def _without(kept: Sequence[str], denied: Collection[str]) -> list[str]:
    return [asset for asset in kept if asset not in denied]
