"""`/metadata/{id}` and `/metadata/by-name`: reads, changes, deletes and restores one asset."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.openapi.models import Example

from lily.api.auth.authorisation import denials
from lily.api.auth.protection import guard
from lily.api.calls import Call, HttpCall, Reads, Writes
from lily.api.http.bodies import read_body
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_model, body_schema
from lily.api.http.openapi.parameters import AssetId
from lily.api.http.openapi.requests import BatchGetBody, UpdateBody
from lily.api.http.openapi.responses import WRITTEN, Asset, Batch, Json
from lily.api.ingest.asset_events import user_event
from lily.api.ingest.writes import write
from lily.api.reads.past_reads import find_past
from lily.api.reads.references import find, find_by_name, id_of_name, normal, resolve, shown
from lily.model.errors import Problem, Refused
from lily.model.schemas import UPDATE_BODY
from lily.model.values import MAX_QUALIFIED_NAME
from lily.store.assets import StoredAsset

router = APIRouter(tags=["metadata"])

AsOf = Annotated[
    str | None,
    Query(
        max_length=64,
        description="Return the asset as it was then. With a time zone: `2026-11-15T08:36:00Z`.",
    ),
]
QualifiedName = Annotated[
    str,
    Query(
        min_length=1,
        max_length=MAX_QUALIFIED_NAME,
        description="The whole qualified name; case matters.",
        openapi_examples={"a table": Example(value=examples.ORDERS)},
    ),
]


@router.get("/metadata/by-name", responses={200: {"model": Asset}})
async def read_by_name(qualified_name: QualifiedName, call: Reads, as_of: AsOf = None) -> Json:
    """Returns the asset with this qualified name, as it is now or as it was at a time."""
    return await _read(call, id_of_name(call.tenant, qualified_name), qualified_name, as_of)


@router.put(
    "/metadata/by-name", status_code=202, responses=WRITTEN, openapi_extra=body_schema(UPDATE_BODY, examples.UPDATE)
)
async def update_by_name(qualified_name: QualifiedName, call: Writes) -> Json:
    """Changes the named attributes in the user layer. Null clears an attribute; an absent one stays as it is."""
    return await _update(call, await find_by_name(call, qualified_name, "WRITE"))


@router.delete("/metadata/by-name", status_code=202, responses=WRITTEN)
async def delete_by_name(qualified_name: QualifiedName, call: Writes) -> Json:
    """Deletes an asset. It stays deleted when its source ingests it again, until it is restored."""
    return await _delete(call, await find_by_name(call, qualified_name, "DELETE"))


@router.post(
    "/metadata/batch-get", responses={200: {"model": Batch}}, openapi_extra=body_model(BatchGetBody, examples.BATCH_GET)
)
async def batch_get(call: Reads) -> Json:
    """Returns up to 1,000 assets in the order of the ids. `missing` names those that do not exist, `denied` those that
    a policy denies."""
    body = await read_body(call.request, BatchGetBody, call.services.settings.limits.body_bytes)
    wanted = {reference: resolve(call.tenant, reference) for reference in body.ids}
    found = await call.services.catalogue.find_many(call.tenant, list(dict.fromkeys(wanted.values())))
    denied = await denials(call, "READ", list(found.values()))
    missing = [name for name, asset_id in wanted.items() if asset_id not in found]
    shown = [asset_id for asset_id in dict.fromkeys(wanted.values()) if asset_id in found and asset_id not in denied]
    content = {
        "items": [found[asset_id].view for asset_id in shown],
        "missing": missing,
        "denied": [
            {"id": name, "policy_id": denied[asset_id].policy_id, "reason": denied[asset_id].reason}
            for name, asset_id in wanted.items()
            if asset_id in denied
        ],
        "next_cursor": None,
    }
    return Json(content)


@router.post("/metadata/{id:text}/restore", status_code=202, responses=WRITTEN)
async def restore(id: AssetId, call: Writes) -> Json:  # noqa: A002 - the contract's name
    """Restores a deleted asset."""
    return await write(call, user_event(call, await find(call, id, "WRITE"), "restore"))


@router.get("/metadata/{id:asset}", responses={200: {"model": Asset}})
async def read(id: AssetId, call: Reads, as_of: AsOf = None) -> Json:  # noqa: A002 - the contract's name
    """Returns one asset, deleted or not, as it is now or as it was at a time. What only edges have named is returned as
    a `placeholder`."""
    # Plain reads rarely get here: `fast_read.py` serves them.
    return await _read(call, resolve(call.tenant, id), id, as_of)


@router.put(
    "/metadata/{id:asset}", status_code=202, responses=WRITTEN, openapi_extra=body_schema(UPDATE_BODY, examples.UPDATE)
)
async def update(id: AssetId, call: Writes) -> Json:  # noqa: A002 - the contract's name
    """Changes the named attributes in the user layer. Null clears an attribute; an absent one stays as it is."""
    return await _update(call, await find(call, id, "WRITE"))


@router.delete("/metadata/{id:asset}", status_code=202, responses=WRITTEN)
async def delete(id: AssetId, call: Writes) -> Json:  # noqa: A002 - the contract's name
    """Deletes an asset. It stays deleted when its source ingests it again, until it is restored."""
    return await _delete(call, await find(call, id, "DELETE"))


async def _read(call: HttpCall, asset_id: str, reference: str, as_of: str | None) -> Json:
    if as_of is not None:
        return Json((await find_past(call, asset_id, reference, as_of)).json)
    return Json(await shown(call, asset_id, reference))


async def _update(call: HttpCall, asset: StoredAsset) -> Json:
    body = await read_body(call.request, UpdateBody, call.services.settings.limits.body_bytes)
    _refuse_renaming(asset, body.attributes.pop("qualified_name", None))
    if not body.attributes:
        raise Refused(Problem("MISSING_FIELD", "name at least one attribute to change", "attributes"))
    event = user_event(call, asset, "upsert", attributes=body.attributes)
    guard(call, asset, event)
    return await write(call, event)


async def _delete(call: Call, asset: StoredAsset) -> Json:
    """With `on_delete: cut`, others lose the tags that they have through the asset if the caller has `policy:write`."""
    return await write(call, user_event(call, asset, "delete"))


def _refuse_renaming(asset: StoredAsset, qualified_name: Any) -> None:
    if qualified_name is not None and (
        not isinstance(qualified_name, str) or normal(qualified_name) != asset.qualified_name
    ):
        description = "the qualified_name identifies the asset and cannot be changed"
        raise Refused(Problem("INVALID_VALUE", description, "attributes.qualified_name"))
