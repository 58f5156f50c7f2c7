"""`/settings`: the settings of a tenant."""

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http.bodies import read_body
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.requests import SettingsBody
from lily.api.http.openapi.responses import Json
from lily.api.http.openapi.responses import TenantSettings as SettingsResponse
from lily.api.receipts.settling import decision_settled
from lily.store.postgres.definitions.tags import read_tag_rules, set_on_delete

router = APIRouter(tags=["tags"])


@router.get("/settings", responses={200: {"model": SettingsResponse}})
async def settings(call: Anyone) -> Json:
    """Returns the tenant's settings. With `on_delete: keep`, a deleted asset still passes its tags on along lineage;
    with `cut` it does not."""
    if not call.principal.may("policy:read"):
        call.require("metadata:read", "this call", "/settings")
    rules = await read_tag_rules(call.services.database, call.tenant)
    return Json({"on_delete": rules.on_delete})


@router.put(
    "/settings", responses={200: {"model": SettingsResponse}}, openapi_extra=body_model(SettingsBody, examples.SETTINGS)
)
async def decide(call: Anyone) -> Json:
    """Changes the tenant's settings and recomputes what depends on them."""
    call.require("policy:write", "changing the settings", "/settings")
    body = await read_body(call.request, SettingsBody, call.services.settings.limits.body_bytes)
    await set_on_delete(call.services.database, call.principal, body.on_delete, call.correlation)
    call.services.tag_rules.invalidate(call.tenant)
    await decision_settled(call)
    return Json({"on_delete": body.on_delete})
