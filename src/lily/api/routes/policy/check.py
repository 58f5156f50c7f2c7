"""`POST /policy/check`: decisions in batches, now or as of a time."""

from typing import Any

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http.bodies import read_json
from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.policy_bodies import CHECKS
from lily.api.http.openapi.policy_responses import DecisionsResponse
from lily.api.http.openapi.responses import Json
from lily.api.policy.checks import parse_checks
from lily.api.policy.decision_log import decided_checks
from lily.api.policy.decisions import decide
from lily.api.policy.outcomes import serialised
from lily.api.policy.past_explanations import check_past, given_time
from lily.model import clock
from lily.model.errors import Problem, Refused
from lily.model.suggestions import MAX_LENGTH, hint

FIELDS = ("checks", "as_of")
MAX_BYTES = 16 << 20  # ten thousand checks with long names

router = APIRouter(tags=["policies"])


@router.post(
    "/policy/check",
    responses={200: {"model": DecisionsResponse}},
    openapi_extra=body_schema(CHECKS, examples.CHECKS),
)
async def check(call: Anyone) -> Json:
    """Decides up to 10,000 checks: may this principal do this to this asset?

    `principal` is the name of a user, or an object with `user`, `groups`, `roles` and `attributes`; a user's groups and
    roles are added. `context` states `time`, `address` and `purpose` for conditions; what a condition needs and the
    context lacks makes it unknown: then an allow does not apply, and anything else does. `plane` is `data` unless it
    is `metadata`. An asset that is not in the catalogue is decided by the setting `unknown_objects`.

    With `as_of` the policies, roles, users and tags of that time decide, derived tags included, and each decision lists
    the `tags` by which policies match, with the path along which the asset had each. For a time before the history of
    derived tags begins, the response is 422 where a propagated tag could have mattered."""
    call.require("policy:read", "checking decisions", "/policy/check")
    body = await read_json(call.request, MAX_BYTES)
    _refuse_unknown(body)
    given = body.get("as_of")
    if given is None:
        batch = parse_checks(body.get("checks"))
        policies, decisions = await decide(call.services, call.tenant, batch)
        call.services.decision_log.record(policies, call.principal.name, decided_checks(batch, decisions))
        return Json(serialised(decisions, policies.version.number))
    as_of = given_time(given)
    batch = parse_checks(body.get("checks"), clock.parse(as_of))
    return Json(await check_past(call, batch, as_of))


def _refuse_unknown(body: Any) -> None:
    if not isinstance(body, dict):
        raise Refused(Problem("INVALID_TYPE", "the body must be an object with `checks`", "body"))
    for field in body:
        if field not in FIELDS:
            quoted = field[:MAX_LENGTH]
            raise Refused(Problem("UNKNOWN_FIELD", f"unknown field `{quoted}`; {hint(field, FIELDS)}", quoted))
