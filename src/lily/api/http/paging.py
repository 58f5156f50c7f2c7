"""The query parameters of every list, and a page of what has keys."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Query
from pydantic import StringConstraints, TypeAdapter

from lily.api.calls import Call
from lily.api.http import cursors
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_NAME

Limit = Annotated[int, Query(ge=1, description="The most items in one page.")]
Cursor = Annotated[
    str | None, Query(max_length=2048, pattern="^[A-Za-z0-9_-]*$", description="`next_cursor` of the previous page.")
]
DEFAULT = 50
KEY: TypeAdapter[str] = TypeAdapter(Annotated[str, StringConstraints(max_length=4 * MAX_NAME)])

ReadKeyed = Callable[[str, int], Awaitable[list[tuple[str, dict[str, Any]]]]]  # after a key, so many


def checked_limit(call: Call, limit: int) -> int:
    maximum = call.services.settings.limits.page
    if limit > maximum:
        description = f"limit {limit} is too large; a page has at most {maximum} items"
        raise Refused(Problem("INVALID_VALUE", description, "limit"))
    return limit


async def keyed_page(
    call: Call, path: str, limit: int, cursor: str | None, read: ReadKeyed, *, first: str = ""
) -> dict[str, Any]:
    """A page of a list that is ordered by key. `first` is what comes before all keys."""
    beyond = first if cursor is None else cursors.unseal(cursor, KEY, call.tenant, path)
    size = checked_limit(call, limit)
    found = await read(beyond, size + 1)
    more = cursors.seal(found[size - 1][0], call.tenant, path) if len(found) > size else None
    return {"items": [body for _, body in found[:size]], "next_cursor": more}
