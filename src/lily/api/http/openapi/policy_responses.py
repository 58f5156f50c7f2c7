"""The response bodies about policies, for the OpenAPI document."""

from typing import Any, Literal

from pydantic import BaseModel

from lily.api.http.openapi.responses import Errors

Effect = Literal["allow", "deny", "mask", "row-filter"]
Plane = Literal["metadata", "data"]
Action = Literal["READ", "WRITE", "DELETE"]

EXISTS: dict[int | str, dict[str, Any]] = {
    409: {
        "model": Errors,
        "description": "It exists already, but for case; there are too many; or roles would form a circle",
    }
}
CYCLE: dict[int | str, dict[str, Any]] = {
    409: {"model": Errors, "description": "Roles would inherit in a circle; the description names it"}
}
FORBIDDEN_ADDRESS: dict[int | str, dict[str, Any]] = {
    422: {"model": Errors, "description": "The operator does not permit the address: it is not public, or not https"}
}
OWN_USER: dict[int | str, dict[str, Any]] = {409: {"model": Errors, "description": "It is the user of this token"}}


class PolicyResponse(BaseModel):
    """`mask` is there with the effect `mask`, `row_filter` with `row-filter`; `conditions` if there are any."""

    id: str
    name: str
    subjects: list[dict[str, str]]
    resources: list[dict[str, str]]
    actions: list[Action]
    effect: Effect
    mask: str | dict[str, Any] | None = None
    row_filter: str | None = None
    conditions: dict[str, Any] | None = None
    priority: int
    applies_to: list[Plane]


class Policies(BaseModel):
    items: list[PolicyResponse]
    next_cursor: str | None


class RoleResponse(BaseModel):
    name: str
    inherits: list[str]
    groups: list[str]


class Roles(BaseModel):
    items: list[RoleResponse]
    next_cursor: str | None


class UserResponse(BaseModel):
    name: str
    roles: list[str]
    groups: list[str]


class DisabledUser(BaseModel):
    name: str
    disabled: bool
    since: str | None


class UserChange(BaseModel):
    """`changed` is false if the user was disabled, or enabled, before."""

    status: Literal["success"]
    name: str
    disabled: bool
    changed: bool


class Users(BaseModel):
    items: list[UserResponse]
    next_cursor: str | None


class ScraperPolicyResponse(BaseModel):
    id: str
    name: str
    scraper_group: str
    sources: list[str] | None = None
    entity_types: list[str] | None = None
    allowed_columns: list[str] | None = None


class ScraperPolicies(BaseModel):
    items: list[ScraperPolicyResponse]
    next_cursor: str | None


class EngineMappingResponse(BaseModel):
    id: str
    name: str
    data_source: str
    engine_name: str
    asset_name: str


class EngineMappings(BaseModel):
    items: list[EngineMappingResponse]
    next_cursor: str | None


class Deleted(BaseModel):
    status: Literal["success"]
    id: str


class NamedBy(BaseModel):
    kind: Literal["policy", "role", "user"]
    name: str


class DeletedSubject(BaseModel):
    """`named_by` lists what still names it, at most 100; `named_by_count` is how many there are."""

    status: Literal["success"]
    name: str
    named_by: list[NamedBy]
    named_by_count: int


class DecisionResponse(BaseModel):
    """`policy_id` is null where no policy decided. `mask` and `row_filter` are there if they narrow what is allowed."""

    effect: Effect
    policy_id: str | None
    reason: str
    mask: str | dict[str, Any] | None = None
    row_filter: str | None = None


class TagPath(BaseModel):
    """How the asset has a tag that a policy names: the path begins at the asset that states it."""

    tag: str
    layer: Literal["stated", "propagated", "inherited"]
    path: list[str]
    names: list[str | None]


class CheckedDecision(DecisionResponse):
    """With `as_of`, `tags` are those by which policies match, as the asset had them then."""

    tags: list[TagPath] | None = None


class DecisionsResponse(BaseModel):
    """One decision per check, in order. `version` is that of the policies; `as_of` repeats the requested time."""

    decisions: list[CheckedDecision]
    version: int
    as_of: str | None = None


class MatchResponse(BaseModel):
    policy_id: str
    name: str
    effect: Effect
    priority: int
    subject: dict[str, str]
    via: list[str]
    resource: dict[str, str]
    matched: str
    conditions: dict[str, Literal["holds", "fails", "unknown"]]
    applies: bool
    decided: bool


class ExplanationResponse(DecisionResponse):
    metadata_id: str
    qualified_name: str
    known: bool
    subjects: list[list[str]]
    matches: list[MatchResponse]
    tags: list[TagPath]
    version: int
    as_of: str | None = None


class AccessChange(BaseModel):
    user: str
    action: Action
    metadata_id: str
    qualified_name: str
    change: Literal["gains", "loses", "changes"]
    before: DecisionResponse
    after: DecisionResponse


class PolicyDryRun(BaseModel):
    """`cut` lists what was limited: users, assets, tags or items."""

    items: list[AccessChange]
    users: int
    assets: int
    gains: int
    loses: int
    changes: int
    cut: list[str]


class LoggedDecision(BaseModel):
    id: str
    at: str
    by: str
    principal: str
    action: Action
    plane: Plane
    asset_id: str
    effect: Effect
    policy_id: str | None
    reason: str
    version: int


class LoggedDecisions(BaseModel):
    items: list[LoggedDecision]
    next_cursor: str | None
