"""`/engine-mappings`: what an engine's catalogue names mean in Lily."""

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.parameters import EngineMappingId
from lily.api.http.openapi.policy_bodies import ENGINE_MAPPING
from lily.api.http.openapi.policy_responses import EXISTS, Deleted, EngineMappingResponse, EngineMappings
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.policy.administration import ENGINE_MAPPINGS, create, listed, one, remove, replace

router = APIRouter(tags=["policies"])


@router.get("/engine-mappings", responses={200: {"model": EngineMappings}})
async def engine_mappings(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the engine mappings, by id."""
    return await listed(call, ENGINE_MAPPINGS, limit, cursor)


@router.post(
    "/engine-mappings",
    status_code=201,
    responses={201: {"model": EngineMappingResponse}, **EXISTS},
    openapi_extra=body_schema(ENGINE_MAPPING, examples.ENGINE_MAPPING),
)
async def create_engine_mapping(call: Anyone) -> Json:
    """Creates a mapping: what an engine calls `engine_name` in a data source, and everything below it, is `asset_name`
    in Lily. Without a mapping an engine's name is the qualified name."""
    return await create(call, ENGINE_MAPPINGS)


@router.get("/engine-mappings/{id:text}", responses={200: {"model": EngineMappingResponse}})
async def engine_mapping(id: EngineMappingId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Returns one engine mapping."""
    return await one(call, ENGINE_MAPPINGS, id)


@router.put(
    "/engine-mappings/{id:text}",
    responses={200: {"model": EngineMappingResponse}},
    openapi_extra=body_schema(ENGINE_MAPPING, examples.ENGINE_MAPPING),
)
async def replace_engine_mapping(id: EngineMappingId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Replaces an engine mapping."""
    return await replace(call, ENGINE_MAPPINGS, id)


@router.delete("/engine-mappings/{id:text}", responses={200: {"model": Deleted}})
async def delete_engine_mapping(id: EngineMappingId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Deletes an engine mapping."""
    return await remove(call, ENGINE_MAPPINGS, id)
