"""Pages of what administrators of notifications manage."""

from typing import Annotated

from pydantic import StringConstraints, TypeAdapter

from lily.api.calls import HttpCall
from lily.api.http import cursors
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import checked_limit
from lily.model.values import MAX_NAME
from lily.store.postgres.notifications import administration

KEY: TypeAdapter[str] = TypeAdapter(Annotated[str, StringConstraints(max_length=4 * MAX_NAME)])


async def listed(call: HttpCall, what: str, limit: int, cursor: str | None, first: str = "") -> Json:
    """`what` names the list of the store, `first` is what comes before all of its keys."""
    question = (call.tenant, "notifications", what)
    beyond = first if cursor is None else cursors.unseal(cursor, KEY, *question)
    size = checked_limit(call, limit)
    found = await administration.page(call.services.database, call.tenant, what, beyond, size + 1)
    more = cursors.seal(found[size - 1][0], *question) if len(found) > size else None
    return Json({"items": [shown for _, shown in found[:size]], "next_cursor": more})


def administering(call: HttpCall) -> administration.Administration:
    return administration.Administration(call.services.database, call.principal, call.correlation)
