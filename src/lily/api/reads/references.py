"""Finds an asset of the caller's tenant by id or qualified name, and checks that no policy denies it to the caller."""

import orjson

from lily.api.auth.authorisation import authorise, denials, denied_references, raise_first
from lily.api.calls import Call
from lily.api.http.errors import not_found
from lily.model import ids
from lily.model.values import MAX_QUALIFIED_NAME, normal_form
from lily.policy import Action
from lily.store.assets import StoredAsset
from lily.store.postgres.graph.placeholders import find_placeholder


def resolve(tenant: str, reference: str) -> str:
    """The id for an id or a qualified name. A name is normalised as it was when it was stored."""
    return ids.resolve(tenant, normal(reference))


def normal(reference: str) -> str:
    """The reference as a stored name would be written. One that no stored name can have is left as it is."""
    normalised = normal_form(reference, MAX_QUALIFIED_NAME)
    return reference.strip() if normalised is None else normalised


async def find(call: Call, reference: str, action: Action = "READ") -> StoredAsset:
    """Raises Declined: 404, also for an asset of another tenant; 403 if a policy denies the action."""
    return await _find(call, resolve(call.tenant, reference), reference, action)


async def find_visible(call: Call, reference: str, what: str = "asset") -> StoredAsset:
    """As `find`, but an asset that a policy hides from the caller is as one that does not exist. Raises Declined with
    404."""
    asset = await call.services.catalogue.find(call.tenant, resolve(call.tenant, reference))
    if asset is None or await denials(call, "READ", [asset]):
        raise not_found(reference, what)
    return asset


async def find_by_name(call: Call, qualified_name: str, action: Action = "READ") -> StoredAsset:
    return await _find(call, id_of_name(call.tenant, qualified_name), qualified_name, action)


def id_of_name(tenant: str, qualified_name: str) -> str:
    return ids.asset_id(tenant, normal(qualified_name))


async def shown(call: Call, asset_id: str, reference: str) -> bytes:
    """The asset as JSON, or the placeholder if only edges have named it. Raises Declined: 404 if there is neither, 403
    if a policy denies it."""
    asset = await call.services.catalogue.find(call.tenant, asset_id)
    if asset is not None:
        await authorise(call, "READ", asset)
        return asset.json
    placeholder = await find_placeholder(call.services.database, call.tenant, asset_id)
    if placeholder is None:
        raise not_found(reference)
    raise_first(await denied_references(call, "READ", [asset_id]))
    (tagged,) = await call.services.reader.with_derived_tags(call.tenant, [placeholder])
    return orjson.dumps({**tagged.view, "placeholder": True})


async def _find(call: Call, asset_id: str, reference: str, action: Action) -> StoredAsset:
    asset = await call.services.catalogue.find(call.tenant, asset_id)
    if asset is None:
        raise not_found(reference)
    await authorise(call, action, asset)
    return asset
