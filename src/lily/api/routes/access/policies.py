"""`/policies`: who may do what to which assets."""

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.parameters import PolicyId
from lily.api.http.openapi.policy_bodies import POLICY
from lily.api.http.openapi.policy_responses import EXISTS, Deleted, Policies, PolicyResponse
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.policy.administration import POLICIES, create, listed, one, remove, replace

router = APIRouter(tags=["policies"])


@router.get("/policies", responses={200: {"model": Policies}})
async def policies(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the policies, by id."""
    return await listed(call, POLICIES, limit, cursor)


@router.post(
    "/policies",
    status_code=201,
    responses={201: {"model": PolicyResponse}, **EXISTS},
    openapi_extra=body_schema(POLICY, examples.POLICY),
)
async def create_policy(call: Anyone) -> Json:
    """Creates a policy, which takes effect within a second in every process of the API.

    `deny` comes first. Then, on the data plane, nothing is allowed that no policy allows, and `mask` and `row-filter`
    narrow what is allowed. Without an `id` the policy gets one. It may name roles, users and assets that do not exist
    yet."""
    return await create(call, POLICIES)


@router.get("/policies/{id:text}", responses={200: {"model": PolicyResponse}})
async def policy(id: PolicyId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Returns one policy."""
    return await one(call, POLICIES, id)


@router.put(
    "/policies/{id:text}",
    responses={200: {"model": PolicyResponse}},
    openapi_extra=body_schema(POLICY, examples.POLICY),
)
async def replace_policy(id: PolicyId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Replaces a policy: what the body leaves out gets its default."""
    return await replace(call, POLICIES, id)


@router.delete("/policies/{id:text}", responses={200: {"model": Deleted}})
async def delete_policy(id: PolicyId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Deletes a policy. What it decided so far can still be checked with `as_of`."""
    return await remove(call, POLICIES, id)
