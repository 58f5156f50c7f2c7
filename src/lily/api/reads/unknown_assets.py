"""Warns of a reference to an asset that nothing has ingested yet: it may come later, or its name is misspelt."""

from lily.api.calls import Call
from lily.model.errors import Problem
from lily.store.lake.reader import LakeUnavailable

CODE = "UNKNOWN_ASSET"


async def unknown_asset(call: Call, asset_id: str, reference: str, remedy: str) -> list[Problem]:
    """Nothing if there is such an asset, deleted or not. Raises StoreUnavailable."""
    quoted = repr(reference[:64])
    try:
        if await call.services.catalogue.find(call.tenant, asset_id) is not None:
            return []
    except LakeUnavailable as error:
        described = f"it is not known whether there is an asset {quoted}: {error}"
    else:
        described = f"there is no asset {quoted} yet; if the name is misspelt, {remedy}"
    return [Problem(CODE, described, "asset")]
