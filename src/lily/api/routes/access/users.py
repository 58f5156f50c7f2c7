"""`/users`: the groups and roles of users."""

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.parameters import UserName
from lily.api.http.openapi.policy_bodies import USER, USER_REPLACED
from lily.api.http.openapi.policy_responses import EXISTS, DeletedSubject, UserResponse, Users
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.policy.administration import USERS, create, listed, one, remove, replace

router = APIRouter(tags=["policies"])


@router.get("/users", responses={200: {"model": Users}})
async def users(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the users, by name."""
    return await listed(call, USERS, limit, cursor)


@router.post(
    "/users",
    status_code=201,
    responses={201: {"model": UserResponse}, **EXISTS},
    openapi_extra=body_schema(USER, examples.USER),
)
async def create_user(call: Anyone) -> Json:
    """Creates a user with groups and roles. A principal with that user name has them, beside the groups that its
    identity provider states. A user needs no entry here to be named by a policy."""
    return await create(call, USERS)


@router.get("/users/{name:text}", responses={200: {"model": UserResponse}})
async def user(name: UserName, call: Anyone) -> Json:
    """Returns one user."""
    return await one(call, USERS, name)


@router.put(
    "/users/{name:text}",
    responses={200: {"model": UserResponse}},
    openapi_extra=body_schema(USER_REPLACED, examples.USER),
)
async def replace_user(name: UserName, call: Anyone) -> Json:
    """Replaces a user: what the body leaves out becomes empty."""
    return await replace(call, USERS, name)


@router.delete("/users/{name:text}", responses={200: {"model": DeletedSubject}})
async def delete_user(name: UserName, call: Anyone) -> Json:
    """Deletes a user, with its groups and roles. Policies that name it stay; the response lists them."""
    return await remove(call, USERS, name)
