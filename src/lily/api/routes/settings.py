"""`/settings`: what holds for the whole tenant."""

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http import examples
from lily.api.http.bodies import read_body
from lily.api.http.openapi import body_model
from lily.api.http.requests import SettingsBody
from lily.api.http.responses import Json
from lily.api.http.responses import TenantSettings as SettingsAnswer
from lily.api.ingest.writes import decision_settled
from lily.store.postgres.definitions.tags import decide_on_delete, read_rules

router = APIRouter(tags=["tags"])


@router.get("/settings", responses={200: {"model": SettingsAnswer}})
async def settings(call: Anyone) -> Json:
    """What the tenant has decided. `on_delete`: whether a deleted asset still conducts tags to what is derived."""
    if not call.principal.may("policy:read"):
        call.require("metadata:read", "this call", "/settings")
    rules = await read_rules(call.services.database, call.tenant)
    return Json({"on_delete": rules.on_delete})


@router.put(
    "/settings", responses={200: {"model": SettingsAnswer}}, openapi_extra=body_model(SettingsBody, examples.SETTINGS)
)
async def decide(call: Anyone) -> Json:
    """Changes the settings; what is derived follows."""
    call.require("policy:write", "changing what deletion means", "/settings")
    body = await read_body(call.request, SettingsBody, call.services.settings.limits.body_bytes)
    await decide_on_delete(call.services.database, call.principal, body.on_delete, call.correlation)
    call.services.definitions.forget(call.tenant)
    await decision_settled(call)
    return Json({"on_delete": body.on_delete})
