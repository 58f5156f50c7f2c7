"""`GET /audit`: who did what, when and from where."""

from typing import Annotated

from fastapi import APIRouter, Query

from lily.api.calls import Administers
from lily.api.http import cursors
from lily.api.http.openapi.responses import AuditEntries, Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.model import clock
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_NAME
from lily.store.postgres.audit.entries import Filters, read_entries

router = APIRouter(tags=["audit"])

Actor = Annotated[str | None, Query(max_length=MAX_NAME, description="Only what this user or token did.")]
Action = Annotated[
    str | None,
    Query(max_length=MAX_NAME, description="Only this action; `policy.` for all that begin with it."),
]
Subject = Annotated[str | None, Query(max_length=4 * MAX_NAME, description="Only what was done to this.")]
Since = Annotated[str | None, Query(max_length=64, description="Only entries of this time or later (RFC 3339).")]
Until = Annotated[str | None, Query(max_length=64, description="Only entries before this time (RFC 3339).")]


@router.get("/audit", responses={200: {"model": AuditEntries}})
async def audit(  # noqa: PLR0917 - the parameters of the query
    call: Administers,
    actor: Actor = None,
    action: Action = None,
    subject: Subject = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = DEFAULT,
    cursor: Cursor = None,
) -> Json:
    """Returns the audit of the tenant, newest first: every administrative act, every change of tokens, every replay and
    confirmation, and every refusal for lack of authority. Needs the scope `admin`.

    Each entry has the hash of the one before, so that an entry that is changed or deleted shows: `lily audit verify`
    checks it. Repeated refusals of the same caller and operation are one entry per minute, with their `count`."""
    filters = Filters(actor, action, subject, _time(since, "since"), _time(until, "until"))
    if any("\x00" in given for given in filters if given):
        raise Refused(Problem("INVALID_VALUE", "a filter must not contain NUL", "query"))
    question = (call.tenant, "audit", *(given or "" for given in filters))
    below = None if cursor is None else cursors.unseal(cursor, cursors.NUMBER, *question)
    size = checked_limit(call, limit)
    found = await read_entries(call.services.database, call.tenant, filters, below=below, limit=size + 1)
    more = cursors.seal(found[size - 1]["number"], *question) if len(found) > size else None
    return Json({"items": found[:size], "next_cursor": more})


def _time(given: str | None, parameter: str) -> str | None:
    try:
        return None if given is None else clock.normalise_time(given)
    except ValueError as error:
        raise Refused(Problem("INVALID_TIME", f"{parameter} {given!r}: {error}", parameter)) from error
