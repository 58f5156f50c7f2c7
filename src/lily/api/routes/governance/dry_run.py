"""`POST /propagations/dry-run`: what a tag would reach, without writing anything."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter

from lily.api.auth.authorisation import denied_references
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
REDACTED = {"qualified_name": None, "already": None, "suppressed": None}

router = APIRouter(tags=["tags"])


@router.post(
    "/propagations/dry-run", responses={200: {"model": DryRun}}, openapi_extra=body_model(DryRunBody, examples.DRY_RUN)
)
async def dry_run(call: Reads, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the assets that would get a tag if this asset had it, nearest first. Nothing is written. `already` marks
    those that have the tag now. Assets that a policy denies to the caller are `redacted`: they count, and show their id
    alone."""
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
    denied = await denied_references(call, "READ", [one.asset_id for one in page])
    in_lake = await call.services.catalogue.find_many(call.tenant, unnamed) if unnamed else {}
    return [
        {
            "metadata_id": one.asset_id,
            "depth": one.depth,
            "via": one.via,
            "redacted": one.asset_id in denied,
            **(REDACTED if one.asset_id in denied else _shown(one, in_lake.get(one.asset_id))),
        }
        for one in page
    ]


def _shown(reached: ReachedAsset, in_lake: StoredAsset | None) -> dict[str, Any]:
    """The name of an asset that is not ingested yet is None: an edge may come before its assets."""
    name = reached.qualified_name or (in_lake.qualified_name if in_lake else None)
    return {"qualified_name": name, "already": reached.already, "suppressed": reached.suppressed}
