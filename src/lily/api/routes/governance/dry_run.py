"""`POST /propagations/dry-run`: what a tag would reach, without writing anything."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter

from lily.api.calls import Call, Reads
from lily.api.http import cursors
from lily.api.http.bodies import read_body
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.requests import DryRunBody
from lily.api.http.openapi.responses import DryRun, Json
from lily.api.http.paging import Cursor, Limit, checked_limit
from lily.api.reads.references import find, normal
from lily.model.assets import tag_key
from lily.store.assets import StoredAsset
from lily.store.postgres.propagation.dry_run import ReachedAsset, assets_reached

DEFAULT = 100

router = APIRouter(tags=["tags"])


@router.post(
    "/propagations/dry-run", responses={200: {"model": DryRun}}, openapi_extra=body_model(DryRunBody, examples.DRY_RUN)
)
async def dry_run(call: Reads, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the assets that would get a tag if this asset had it, nearest first. Nothing is written. `already` marks
    those that have the tag now."""
    call.require("lineage:read", "a dry run", "/propagations/dry-run")
    size = checked_limit(call, limit)
    body = await read_body(call.request, DryRunBody, call.services.settings.limits.body_bytes)
    asset = await find(call, body.asset)
    key = tag_key(normal(body.tag))
    question = (call.tenant, "dry-run", asset.id, key)
    start = 0 if cursor is None else cursors.unseal(cursor, cursors.NUMBER, *question)
    rules = await call.services.tag_rules.get(call.tenant)
    reached = await assets_reached(call.services.database, asset, rules, key)
    page = reached[start : start + size]
    definition = rules.definitions.get(key)
    content = {
        "tag": rules.name(key, body.tag),
        "propagates": definition is not None and definition.propagates,
        "reached": len(reached),
        "depth": reached[-1].depth if reached else 0,
        "items": await _items(call, page),
        "next_cursor": cursors.seal(start + size, *question) if len(reached) > start + size else None,
    }
    return Json(content)


async def _items(call: Call, page: Sequence[ReachedAsset]) -> list[dict[str, Any]]:
    unnamed = [one.asset_id for one in page if one.qualified_name is None]
    in_lake = await call.services.catalogue.find_many(call.tenant, unnamed) if unnamed else {}
    return [
        {
            "metadata_id": one.asset_id,
            "qualified_name": one.qualified_name or _name(in_lake.get(one.asset_id)),
            "depth": one.depth,
            "via": one.via,
            "already": one.already,
            "suppressed": one.suppressed,
        }
        for one in page
    ]


def _name(asset: StoredAsset | None) -> str | None:
    """None for an asset that is not ingested yet: an edge may come before its assets."""
    return asset.qualified_name if asset else None
