"""`GET /incidents/{id}/at-risk`: the assets that an incident puts at risk."""

from typing import Any

from fastapi import APIRouter
from pydantic import TypeAdapter

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Anyone
from lily.api.http import cursors
from lily.api.http.openapi.incidents import AssetsAtRisk, IncidentId
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.incidents.visible import find_visible
from lily.store.postgres.at_risk.reading import AssetAtRisk, assets_at_risk, risk_paths

router = APIRouter(tags=["incidents"])

POSITION: TypeAdapter[str] = TypeAdapter(str)


@router.get("/incidents/{id:segment}/at-risk", responses={200: {"model": AssetsAtRisk}})
async def at_risk(incident_id: IncidentId, call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the assets of an incident and those that it reaches along lineage, in order of their ids.

    `via` is the asset from which it came, and `path` leads there from an asset of the incident, which comes first. What
    is below these assets is at risk too and not listed. A resolved incident puts nothing at risk. Assets that a policy
    denies to the caller are left out."""
    call.require("incidents:read", "reading incidents", "/incidents")
    incident, database = str((await find_visible(call, incident_id))["incident_id"]), call.services.database
    question, most = (call.tenant, incident, "at-risk"), checked_limit(call, limit)
    start = None if cursor is None else cursors.unseal(cursor, POSITION, *question)
    found = await assets_at_risk(database, call.tenant, incident, start=start, limit=most + 1)
    page = found[:most]
    denied = await denied_references(call, "READ", {asset.reference for asset in page})
    shown = [asset for asset in page if asset.reference not in denied]
    paths = await risk_paths(database, call.tenant, incident, [asset.asset_id for asset in shown])
    more = cursors.seal(page[-1].asset_id, *question) if len(found) > most else None
    return Json({"items": [_item(asset, paths.get(asset.asset_id, ())) for asset in shown], "next_cursor": more})


def _item(asset: AssetAtRisk, path: tuple[str, ...]) -> dict[str, Any]:
    return {
        "metadata_id": asset.asset_id,
        "qualified_name": asset.qualified_name,
        "name": asset.name,
        "entity_type": asset.entity_type,
        "is_deleted": asset.is_deleted,
        "via": asset.via,
        "path": path,
    }
