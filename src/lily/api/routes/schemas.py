"""`/schemas`: the JSON Schemas of bodies and events."""

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http.errors import not_found
from lily.api.http.responses import Json
from lily.model.schemas import SCHEMAS

router = APIRouter(tags=["operations"])


@router.get("/schemas", responses={200: {"description": "JSON Schemas by name"}})
async def schemas(call: Anyone) -> Json:  # noqa: ARG001 - declared for its authentication
    """Returns the JSON Schemas of bodies and events."""
    return Json(SCHEMAS)


@router.get("/schemas/{name}", responses={200: {"description": "One JSON Schema"}})
async def schema(name: str, call: Anyone) -> Json:  # noqa: ARG001 - declared for its authentication
    """Returns one JSON Schema."""
    if name not in SCHEMAS:
        raise not_found(name, "schema")
    return Json(SCHEMAS[name])
