"""`GET /metadata/{id}/attributes`: the attributes of an asset that propagation rules set."""

from fastapi import APIRouter

from lily.api.calls import Reads
from lily.api.http.openapi.parameters import AssetId
from lily.api.http.openapi.responses import AttributeItems, Json
from lily.api.reads.references import find
from lily.store.postgres.attributes.paths import derived_attributes

router = APIRouter(tags=["attributes"])


@router.get("/metadata/{id:text}/attributes", responses={200: {"model": AttributeItems}})
async def attributes_of(id: AssetId, call: Reads) -> Json:  # noqa: A002 - the contract's name
    """Returns the attributes that propagation rules set on an asset, each with its rule, origin and path.

    For a list, every item that came from another asset is one entry. A user's own value takes precedence."""
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
