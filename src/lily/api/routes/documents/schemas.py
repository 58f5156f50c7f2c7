"""`/schemas`: the JSON Schemas of bodies and events."""

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.openapi.models import Example

from lily.api.calls import Anyone
from lily.api.http.errors import not_found
from lily.api.http.openapi.responses import Json
from lily.incidents import schemas as incidents
from lily.model import refreshes
from lily.model import schemas as model

SCHEMAS = model.SCHEMAS | incidents.SCHEMAS | refreshes.SCHEMAS

router = APIRouter(tags=["operations"])

SchemaName = Annotated[
    str,
    Path(description="A name that `GET /schemas` lists.", openapi_examples={"a body": Example(value="ingest-body")}),
]


@router.get("/schemas", responses={200: {"description": "JSON Schemas by name"}})
async def schemas(call: Anyone) -> Json:  # noqa: ARG001 - declared for its authentication
    """Returns the JSON Schemas of bodies and events."""
    return Json(SCHEMAS)


@router.get("/schemas/{name}", responses={200: {"description": "One JSON Schema"}})
async def schema(name: SchemaName, call: Anyone) -> Json:  # noqa: ARG001 - declared for its authentication
    """Returns one JSON Schema."""
    if name not in SCHEMAS:
        raise not_found(name, "schema")
    return Json(SCHEMAS[name])
