"""Finds an asset of the caller's tenant by id or qualified name, and checks that no policy denies it to the caller."""

from lily.api.auth.authorisation import authorise
from lily.api.calls import Call
from lily.api.http.errors import not_found
from lily.model import ids
from lily.model.values import MAX_QUALIFIED_NAME, normal_form
from lily.policy import Action
from lily.store.assets import StoredAsset


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


async def find_by_name(call: Call, qualified_name: str, action: Action = "READ") -> StoredAsset:
    return await _find(call, id_of_name(call.tenant, qualified_name), qualified_name, action)


def id_of_name(tenant: str, qualified_name: str) -> str:
    return ids.asset_id(tenant, normal(qualified_name))


async def _find(call: Call, asset_id: str, reference: str, action: Action) -> StoredAsset:
    asset = await call.services.catalogue.find(call.tenant, asset_id)
    if asset is None:
        raise not_found(reference)
    await authorise(call, action, asset)
    return asset
