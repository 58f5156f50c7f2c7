"""`/scraper-policies`: what connectors may read and write."""

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.parameters import ScraperPolicyId
from lily.api.http.openapi.policy_bodies import SCRAPER_POLICY
from lily.api.http.openapi.policy_responses import EXISTS, Deleted, ScraperPolicies, ScraperPolicyResponse
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.policy.administration import SCRAPER_POLICIES, create, listed, one, remove, replace

router = APIRouter(tags=["policies"])


@router.get("/scraper-policies", responses={200: {"model": ScraperPolicies}})
async def scraper_policies(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the scraper policies, by id."""
    return await listed(call, SCRAPER_POLICIES, limit, cursor)


@router.post(
    "/scraper-policies",
    status_code=201,
    responses={201: {"model": ScraperPolicyResponse}, **EXISTS},
    openapi_extra=body_schema(SCRAPER_POLICY, examples.SCRAPER_POLICY),
)
async def create_scraper_policy(call: Anyone) -> Json:
    """Creates a scraper policy: which data sources, entity types and columns the tokens of a scraper group may read and
    write."""
    return await create(call, SCRAPER_POLICIES)


@router.get("/scraper-policies/{id:text}", responses={200: {"model": ScraperPolicyResponse}})
async def scraper_policy(id: ScraperPolicyId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Returns one scraper policy."""
    return await one(call, SCRAPER_POLICIES, id)


@router.put(
    "/scraper-policies/{id:text}",
    responses={200: {"model": ScraperPolicyResponse}},
    openapi_extra=body_schema(SCRAPER_POLICY, examples.SCRAPER_POLICY),
)
async def replace_scraper_policy(id: ScraperPolicyId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Replaces a scraper policy."""
    return await replace(call, SCRAPER_POLICIES, id)


@router.delete("/scraper-policies/{id:text}", responses={200: {"model": Deleted}})
async def delete_scraper_policy(id: ScraperPolicyId, call: Anyone) -> Json:  # noqa: A002 - the contract's name
    """Deletes a scraper policy."""
    return await remove(call, SCRAPER_POLICIES, id)
