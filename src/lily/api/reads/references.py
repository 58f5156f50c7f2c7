"""Finds the asset a caller means: by id or by qualified name, and only among its own tenant's."""

import unicodedata

from lily.api.calls import Call
from lily.api.http.errors import not_found
from lily.model import ids
from lily.store.assets import StoredAsset


def resolve(tenant: str, reference: str) -> str:
    """The id a reference stands for. A name is compared in the form in which it was stored."""
    return ids.resolve(tenant, normal(reference))


def normal(reference: str) -> str:
    return unicodedata.normalize("NFC", reference).strip()


async def find(call: Call, reference: str) -> StoredAsset:
    """Raises Declined with 404, for another tenant's asset as for none at all."""
    return await _found(call, resolve(call.tenant, reference), reference)


async def find_by_name(call: Call, qualified_name: str) -> StoredAsset:
    return await _found(call, id_of_name(call.tenant, qualified_name), qualified_name)


def id_of_name(tenant: str, qualified_name: str) -> str:
    return ids.asset_id(tenant, normal(qualified_name))


async def _found(call: Call, asset_id: str, reference: str) -> StoredAsset:
    asset = await call.services.catalogue.find(call.tenant, asset_id)
    if asset is None:
        raise not_found(reference)
    return asset
