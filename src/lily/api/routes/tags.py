"""The tags of one asset, and single-tag edits of the person's layer."""

from fastapi import APIRouter

from lily.api.answers import Json, TagItems
from lily.api.bodies import read_body
from lily.api.calls import Reads, Writes
from lily.api.documents import body_model
from lily.api.intake import person_event
from lily.api.protection import guard_removal
from lily.api.references import find
from lily.api.requests import TagBody
from lily.api.routes.metadata import WRITTEN
from lily.api.writes import write
from lily.model.assets import LAYERS

router = APIRouter(tags=["tags"])


@router.get("/metadata/{id:path}/tags", responses={200: {"model": TagItems}})
async def tags_of(id: str, call: Reads) -> Json:  # noqa: A002 - the contract's name
    """Every tag with the layer it stands in and where it comes from."""
    asset = await find(call, id)
    items = [
        {"tag": tag, "layer": layer, "origin": asset.id, "path": [asset.id], "suppressed": False}
        for layer in LAYERS
        for tag in asset.view["tags"][layer]
    ]
    return Json({"items": items, "next_cursor": None})


@router.post("/metadata/{id:path}/tags", status_code=202, responses=WRITTEN, openapi_extra=body_model(TagBody))
async def tag(id: str, call: Writes) -> Json:  # noqa: A002 - the contract's name
    """Puts one tag on the asset; edits of other tags at the same time are not lost."""
    asset = await find(call, id)
    body = await read_body(call.request, TagBody, call.parts.settings.limits.body_bytes)
    return await write(call, person_event(call, asset, "tag", tag=body.tag))


@router.delete("/metadata/{id:path}/tags/{tag:path}", status_code=202, responses=WRITTEN)
async def untag(id: str, tag: str, call: Writes) -> Json:  # noqa: A002 - the contract's name
    """Takes one tag of the person's layer away. A protective one needs `policy:write`."""
    asset = await find(call, id)
    event = person_event(call, asset, "untag", tag=tag)
    await guard_removal(call, asset, [event.statement.tag or ""])
    return await write(call, event)
