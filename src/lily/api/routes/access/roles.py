"""`/roles`: roles that inherit from each other and that groups hold."""

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.parameters import RoleName
from lily.api.http.openapi.policy_bodies import ROLE, ROLE_REPLACED
from lily.api.http.openapi.policy_responses import CYCLE, EXISTS, DeletedSubject, RoleResponse, Roles
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.policy.administration import ROLES, create, listed, one, remove, replace

router = APIRouter(tags=["policies"])


@router.get("/roles", responses={200: {"model": Roles}})
async def roles(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the roles, by name."""
    return await listed(call, ROLES, limit, cursor)


@router.post(
    "/roles",
    status_code=201,
    responses={201: {"model": RoleResponse}, **EXISTS},
    openapi_extra=body_schema(ROLE, examples.ROLE),
)
async def create_role(call: Anyone) -> Json:
    """Creates a role. Its holders also hold the roles that it `inherits`; members of its `groups` hold the role. Roles
    that inherit in a circle are refused, with the circle."""
    return await create(call, ROLES)


@router.get("/roles/{name:text}", responses={200: {"model": RoleResponse}})
async def role(name: RoleName, call: Anyone) -> Json:
    """Returns one role."""
    return await one(call, ROLES, name)


@router.put(
    "/roles/{name:text}",
    responses={200: {"model": RoleResponse}, **CYCLE},
    openapi_extra=body_schema(ROLE_REPLACED, examples.ROLE),
)
async def replace_role(name: RoleName, call: Anyone) -> Json:
    """Replaces a role: what the body leaves out becomes empty."""
    return await replace(call, ROLES, name)


@router.delete("/roles/{name:text}", responses={200: {"model": DeletedSubject}})
async def delete_role(name: RoleName, call: Anyone) -> Json:
    """Deletes a role. Policies, roles and users that name it stay; the response lists them."""
    return await remove(call, ROLES, name)
