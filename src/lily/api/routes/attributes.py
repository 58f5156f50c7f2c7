"""The attributes of one asset that rules set: which rule did, from where, and along which path."""

from fastapi import APIRouter

from lily.api.calls import Reads
from lily.api.http.parameters import AssetId
from lily.api.http.responses import AttributeItems, Json
from lily.api.reads.references import find
from lily.store.postgres.attributes.paths import derived_attributes

router = APIRouter(tags=["attributes"])


@router.get("/metadata/{id:text}/attributes", responses={200: {"model": AttributeItems}})
async def attributes_of(id: AssetId, call: Reads) -> Json:  # noqa: A002 - the contract's name
    """What rules set here, and why: the value with its origin and the path that it took; of a list each item that came
    from elsewhere. A person's own value is shown before it."""
    asset = await find(call, id)
    items = [
        {
            "attribute": one.attribute,
            "value": one.value,
            "rule": one.rule,
            "mode": one.mode,
            "origin": one.path[0],
            "path": one.path,
            "depth": one.depth,
        }
        for one in await derived_attributes(call.services.database, call.tenant, asset.id)
    ]
    return Json({"items": items, "next_cursor": None})
