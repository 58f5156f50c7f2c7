"""`/settings`: the settings of a tenant."""

from typing import Any

from fastapi import APIRouter

from lily.api.calls import Anyone, Call
from lily.api.http.bodies import read_body
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.policy_examples import SETTINGS
from lily.api.http.openapi.requests import SettingsBody
from lily.api.http.openapi.responses import Json
from lily.api.http.openapi.responses import TenantSettings as SettingsResponse
from lily.api.policy.settings import AccessSettings
from lily.api.receipts.settling import decision_settled
from lily.model.errors import Problem, Refused
from lily.store.postgres.definitions.tags import read_tag_rules, set_on_delete
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.snapshot import read_version

router = APIRouter(tags=["tags"])

KEY = "settings"  # of the one row per tenant


@router.get("/settings", responses={200: {"model": SettingsResponse}})
async def settings(call: Anyone) -> Json:
    """Returns the tenant's settings.

    With `on_delete: keep`, a deleted asset still passes its tags on along lineage; with `cut` it does not.
    `unknown_objects` decides about objects that are not in the catalogue: `closed` denies them on the data plane,
    `open` allows what no policy denies. `decision_log` logs no decision (`off`), every one (`all`), or the share
    `decision_log_rate` (`sampled`)."""
    if not call.principal.may("policy:read"):
        call.require("metadata:read", "this call", "/settings")
    return Json(await _settings(call))


@router.put("/settings", responses={200: {"model": SettingsResponse}}, openapi_extra=body_model(SettingsBody, SETTINGS))
async def decide(call: Anyone) -> Json:
    """Changes the given settings and recomputes what depends on them."""
    call.require("policy:write", "changing the settings", "/settings")
    body = await read_body(call.request, SettingsBody, call.services.settings.limits.body_bytes)
    given = body.model_dump(exclude_unset=True)
    if not given:
        raise Refused(Problem("MISSING_FIELD", "name at least one setting to change", "body"))
    on_delete = given.pop("on_delete", None)
    if given:
        await _change_access(call, given)
    if on_delete is not None:
        await set_on_delete(call.services.database, call.principal, on_delete, call.correlation)
        call.services.tag_rules.invalidate(call.tenant)
        await decision_settled(call)
    return Json(await _settings(call))


async def _settings(call: Call) -> dict[str, Any]:
    rules = await read_tag_rules(call.services.database, call.tenant)
    access = AccessSettings.of((await read_version(call.services.database, call.tenant)).settings)
    return {"on_delete": rules.on_delete, **access.as_dict()}


async def _change_access(call: Call, given: dict[str, Any]) -> None:
    """Repeated if another change came between the reading and the writing."""
    database = call.services.database
    while True:
        version = await read_version(database, call.tenant)
        changed = AccessSettings.of((version.settings or {}) | given)
        entry = objects.Entry("access-settings", KEY, changed.as_dict())
        result = await objects.change(
            database, call.principal, "put", entry, correlation=call.correlation, expected=version.number
        )
        if result.done:
            call.services.policies.changed(call.tenant)
            return
