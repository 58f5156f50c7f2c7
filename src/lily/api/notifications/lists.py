"""What administrators of notifications manage: pages of it, and one by its key."""

from functools import partial
from typing import Any

from lily.api.calls import HttpCall
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import keyed_page
from lily.store.postgres.subscriptions import administration


async def listed(call: HttpCall, what: str, limit: int, cursor: str | None, first: str = "") -> Json:
    """`what` names the list of the store, `first` is what comes before all of its keys."""
    read = partial(administration.page, call.services.database, call.tenant, what)
    return Json(await keyed_page(call, f"notifications/{what}", limit, cursor, read, first=first))


async def find(call: HttpCall, what: str, key: str) -> dict[str, Any] | None:
    return await administration.find(call.services.database, call.tenant, what, key)


def administering(call: HttpCall) -> administration.Administration:
    return administration.Administration(call.services.database, call.principal, call.correlation)
