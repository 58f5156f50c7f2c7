"""What the calls about policies, roles, users, scraper policies and engine mappings take and return."""

from typing import Any, NamedTuple

from pydantic import BaseModel

from lily.api.http.openapi import parameters, policy_examples
from lily.api.http.openapi import policy_bodies as bodies
from lily.api.http.openapi import policy_responses as responses
from lily.api.http.openapi.examples import Examples
from lily.model.schemas import Schema

Responses = dict[int | str, dict[str, Any]]


class Shapes(NamedTuple):
    """What the calls take and return."""

    reference: Any  # the path parameter that names one object
    body: Schema
    examples: Examples
    item: type[BaseModel]
    page: type[BaseModel]
    deleted: type[BaseModel]
    replaced_body: Schema | None = None  # where PUT takes another body than POST
    replace_errors: Responses | None = None


POLICY = Shapes(
    parameters.POLICY_PATH,
    bodies.POLICY,
    policy_examples.POLICY,
    responses.PolicyResponse,
    responses.Policies,
    responses.Deleted,
)
ROLE = Shapes(
    parameters.ROLE_PATH,
    bodies.ROLE,
    policy_examples.ROLE,
    responses.RoleResponse,
    responses.Roles,
    responses.DeletedSubject,
    bodies.ROLE_REPLACED,
    responses.CYCLE,
)
USER = Shapes(
    parameters.USER_PATH,
    bodies.USER,
    policy_examples.USER,
    responses.UserResponse,
    responses.Users,
    responses.DeletedSubject,
    bodies.USER_REPLACED,
)
SCRAPER_POLICY = Shapes(
    parameters.SCRAPER_POLICY_PATH,
    bodies.SCRAPER_POLICY,
    policy_examples.SCRAPER_POLICY,
    responses.ScraperPolicyResponse,
    responses.ScraperPolicies,
    responses.Deleted,
)
ENGINE_MAPPING = Shapes(
    parameters.ENGINE_MAPPING_PATH,
    bodies.ENGINE_MAPPING,
    policy_examples.ENGINE_MAPPING,
    responses.EngineMappingResponse,
    responses.EngineMappings,
    responses.Deleted,
)
