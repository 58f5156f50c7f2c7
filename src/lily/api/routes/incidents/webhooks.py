"""`/webhook/{source}`: signed webhooks of other systems."""

from fastapi import APIRouter, Request

from lily.api.calls import services_of
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.incidents import (
    WEBHOOK_EXAMPLES,
    OktaChallenge,
    OktaVerification,
    Received,
    SourceName,
    TenantName,
)
from lily.api.http.openapi.responses import Json
from lily.intake.okta import verification

router = APIRouter(tags=["incidents"])


@router.post(
    "/webhook/{source:segment}",
    responses={200: {"model": Received}},
    openapi_extra=body_schema({"type": "object"}, WEBHOOK_EXAMPLES),
)
async def receive(source: SourceName, request: Request, tenant: TenantName = "") -> Json:
    """Receives a webhook of another system: Monte Carlo, Okta, Jira, Slack, Great Expectations, Soda, or one for which
    the tenant stated a mapping (`/webhook-mappings`). It needs no token: the sender signs it with the tenant's secret
    (`PUT /webhook-secrets/{source}`). 200 means that it is durably in the log; a delivery that is sent
    again changes nothing. 403 means that the signature is wrong, or that there is no such tenant, source or secret."""
    response = await services_of(request).webhooks.receive(request, tenant, source)
    return Json(dict(response) if response is not None else {"status": "success"})


@router.get("/webhook/okta", responses={200: {"model": OktaVerification}})
async def verify_okta(challenge: OktaChallenge = "", _tenant: TenantName = "") -> Json:
    """Responds to Okta when it verifies the address of an event hook. It needs neither a token nor a secret."""
    return Json(verification(challenge))
