"""The query parameters of every list."""

from typing import Annotated

from fastapi import Query

from lily.api.calls import Call
from lily.model.errors import Problem, Refused

Limit = Annotated[int, Query(ge=1, description="The most items in one page.")]
Cursor = Annotated[
    str | None, Query(max_length=2048, pattern="^[A-Za-z0-9_-]*$", description="`next_cursor` of the previous page.")
]
DEFAULT = 50


def checked_limit(call: Call, limit: int) -> int:
    maximum = call.services.settings.limits.page
    if limit > maximum:
        description = f"limit {limit} is too large; a page has at most {maximum} items"
        raise Refused(Problem("INVALID_VALUE", description, "limit"))
    return limit
