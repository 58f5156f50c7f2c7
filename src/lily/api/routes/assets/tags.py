"""`/metadata/{id}/tags`: the tags of an asset, edits of single tags, and suppression of derived tags."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from lily.api.auth.protection import guard
from lily.api.calls import HttpCall, Reads, Writes
from lily.api.http.bodies import read_body
from lily.api.http.errors import not_found
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.parameters import AssetId, TagName
from lily.api.http.openapi.requests import SuppressBody, TagBody
from lily.api.http.openapi.responses import WRITTEN, Json, TagItems
from lily.api.ingest.asset_events import user_event
from lily.api.ingest.writes import write
from lily.api.reads.references import find, normal
from lily.api.reads.tag_names import add_names
from lily.model import clock
from lily.model.assets import LAYERS, SUPPRESSED, held_tags, suppressions, tag_key
from lily.store.assets import StoredAsset
from lily.store.postgres.catalogue.history import ended_tags
from lily.store.postgres.propagation.held_steps import mark_held
from lily.store.postgres.propagation.origins import origins_of
from lily.store.postgres.propagation.tag_paths import Derivation, derivations, new_origins

router = APIRouter(tags=["tags"])

WithOrigins = Annotated[bool, Query(description="List every origin of a derived tag, not only that of its path.")]


@router.get("/metadata/{id:text}/tags", responses={200: {"model": TagItems}})
async def tags_of(id: AssetId, call: Reads, origins: WithOrigins = False) -> Json:  # noqa: A002
    """Returns every tag of an asset with its layer and origin; for a derived tag also the path along lineage.
    The names are null where nothing is known or a policy denies the asset to the caller."""
    asset = await find(call, id)
    items: list[dict[str, Any]] = [
        {"tag": tag, "layer": layer, "origin": asset.id, "path": [asset.id], "suppressed": False}
        for layer in LAYERS
        for tag in asset.view["tags"][layer]
    ]
    items += await _held(call, asset)
    found = await mark_held(call.services.database, asset.tenant, await derivations(call.services.database, asset))
    hidden = suppressions(asset.layers)
    added = await new_origins(call.services.database, asset) if hidden else {}
    for derivation in sorted(found, key=lambda one: (one.kind != "propagated", one.tag)):
        items.append(_derived(asset, derivation) | _suppression(asset, derivation.tag, added))
        if origins:
            every_origin = await origins_of(call.services.database, asset, derivation.tag)
            items[-1] |= {"origins": every_origin.ids, "more": every_origin.more}
    await add_names(call, asset, items)
    return Json({"items": items, "next_cursor": None})


@router.post(
    "/metadata/{id:text}/tags",
    status_code=202,
    responses=WRITTEN,
    openapi_extra=body_model(TagBody, examples.TAG_ASSET),
)
async def tag(id: AssetId, call: Writes) -> Json:  # noqa: A002 - the contract's name
    """Adds one tag to the user layer. Concurrent edits of other tags are kept."""
    asset = await find(call, id, "WRITE")
    body = await read_body(call.request, TagBody, call.services.settings.limits.body_bytes)
    return await write(call, user_event(call, asset, "tag", tag=body.tag))


@router.post(
    "/metadata/{id:text}/tags/{tag:text}/suppress",
    status_code=202,
    responses=WRITTEN,
    openapi_extra=body_model(SuppressBody, examples.SUPPRESS),
)
async def suppress(id: AssetId, tag: TagName, call: Writes) -> Json:  # noqa: A002 - the contract's name
    """Suppresses a derived tag: it is no longer effective on this asset, and does not propagate further from it.

    It needs `policy:write`. A tag that the asset has in a layer of its own cannot be
    suppressed; delete it instead."""
    asset = await find(call, id, "WRITE")
    body = await read_body(call.request, SuppressBody, call.services.settings.limits.body_bytes)
    key = tag_key(normal(tag))
    name = {**asset.derived_tags.inherited, **asset.derived_tags.propagated}.get(key)
    if name is None:
        raise not_found(tag, "derived tag on this asset")
    call.require("policy:write", f"suppressing the tag {name}", asset.id)
    origins = await origins_of(call.services.database, asset, key)
    await call.record("suppression.requested", asset.id, {"tag": name, "reason": body.reason})
    return await write(call, user_event(call, asset, "suppress", tag=name, reason=body.reason, origins=origins.ids))


@router.delete("/metadata/{id:text}/tags/{tag:text}/suppress", status_code=202, responses=WRITTEN)
async def unsuppress(id: AssetId, tag: TagName, call: Writes) -> Json:  # noqa: A002 - the contract's name
    """Ends the suppression of a derived tag."""
    asset = await find(call, id, "WRITE")
    suppression = suppressions(asset.layers).get(tag_key(normal(tag)))
    if suppression is None:
        raise not_found(tag, "suppressed tag on this asset")
    await call.record("suppression.end-requested", asset.id, {"tag": suppression["tag"]})
    return await write(call, user_event(call, asset, "unsuppress", tag=suppression["tag"]))


@router.delete("/metadata/{id:text}/tags/{tag:text}", status_code=202, responses=WRITTEN)
async def untag(id: AssetId, tag: TagName, call: Writes) -> Json:  # noqa: A002 - the contract's name
    """Removes one tag from the user layer. Removing a protective tag needs `policy:write`."""
    asset = await find(call, id, "WRITE")
    event = user_event(call, asset, "untag", tag=tag)
    guard(call, asset, event)
    return await write(call, event)


async def _held(call: HttpCall, asset: StoredAsset) -> list[dict[str, Any]]:
    """Protective tags that a layer no longer shows, and that nobody with authority took away."""
    held = [
        (layer, tag, name)
        for layer in LAYERS
        if layer in asset.layers
        for tag, name in sorted(held_tags(asset.layers[layer]).items())
        if tag in asset.rules.protective
    ]
    if not held:
        return []
    keys = [(layer, tag) for layer, tag, _ in held]
    ended = await ended_tags(call.services.database, asset.tenant, asset.id, keys)
    return [
        {
            "tag": asset.rules.name(tag, name),
            "layer": layer,
            "origin": asset.id,
            "path": [asset.id],
            "suppressed": False,
            "held": True,
            "ended": _ending(ended.get((layer, tag), {})),
        }
        for layer, tag, name in held
    ]


def _ending(cause: dict[str, str]) -> dict[str, str | None]:
    return {"by": cause.get("by"), "at": cause.get("time")}


def _derived(asset: StoredAsset, derivation: Derivation) -> dict[str, Any]:
    names = {**asset.derived_tags.inherited, **asset.derived_tags.propagated}
    return {
        "tag": names[derivation.tag],
        "layer": derivation.kind,
        "origin": derivation.path[0],
        "path": list(derivation.path),
        "suppressed": derivation.tag in suppressions(asset.layers),
        "depth": derivation.depth,
        **({"held": True} if derivation.held else {}),
    }


def _suppression(asset: StoredAsset, tag: str, added: dict[str, list[str]]) -> dict[str, Any]:
    """Who suppressed the tag, why and when, and the origins that were added since."""
    suppression = suppressions(asset.layers).get(tag)
    if suppression is None:
        return {}
    at = asset.layers["user"].clock_of(SUPPRESSED + tag) or ""
    about = {"by": suppression["by"], "reason": suppression["reason"], "at": clock.time_of(at)}
    return {"suppression": {**about, "new_origins": added.get(tag, [])}}
