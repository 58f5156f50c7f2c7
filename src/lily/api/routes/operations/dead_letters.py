"""`/dead-letters`: events that the pipeline or a reaction refused; list them, and replay them."""

import base64
from collections.abc import Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter

from lily.api.auth.dead_letters import denied_letters
from lily.api.calls import HttpCall, Reads, Replays
from lily.api.http import cursors
from lily.api.http.bodies import read_body
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.requests import REPLAY_SCHEMA, ReplayBody
from lily.api.http.openapi.responses import DeadLetters, Json, Replayed
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.ingest.replay import Replay
from lily.bus import topics
from lily.model import clock
from lily.store.postgres.dead_letters.records import DeadLetter, read_dead_letters
from lily.store.postgres.jobs.queue import TOPIC as JOBS

MAX_READS = 5  # of one page, where policies deny some of the letters to the caller

router = APIRouter(tags=["dead letters"])


@router.get("/dead-letters", responses={200: {"model": DeadLetters}})
async def dead_letters(call: Reads, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns dead letters, newest first: the refused event, why it was refused, and where it came from. The original
    of a job, of a webhook or of what is stated about an incident is shown to tokens with the scope `admin` only.
    Letters about assets that a policy denies to the caller are left out."""
    question = (call.tenant, "dead-letters")
    below = None if cursor is None else cursors.unseal(cursor, cursors.NUMBER, *question)
    size = checked_limit(call, limit)
    items: list[DeadLetter] = []
    for _ in range(MAX_READS):
        wanted = size - len(items)
        found = await read_dead_letters(call.services.database, call.tenant, below=below, limit=wanted + 1)
        page = found[:wanted]
        denied = await denied_letters(call, "READ", page)
        items += [letter for letter in page if letter.id not in denied]
        below = page[-1].id if len(found) > wanted else None
        if below is None or len(items) == size:
            break
    more = cursors.seal(below, *question) if below is not None else None
    shown = [_item(letter, shows_all=call.principal.may("admin")) for letter in items]
    return Json({"items": shown, "next_cursor": more})


@router.post(
    "/dead-letters/replay",
    responses={200: {"model": Replayed}},
    openapi_extra=body_schema(REPLAY_SCHEMA, examples.REPLAY),
)
async def replay(call: Replays) -> Json:
    """Replays dead letters that are not replayed yet: those named by id, or with `all` every one that the token may.

    An event that the pipeline refused is appended to the log again, which needs the scope of what it states:
    `lineage:write` or `metadata:write`, and also `policy:write` if it was stated with that. One that a reaction could
    not handle is passed to that reaction again, and a job is queued again; both need the scope `admin`. A letter is
    replayed once; if it fails again, it can be replayed again. `missing` has the ids that do not exist or are replayed
    already, `denied` those about assets that a policy denies to the caller."""
    body = await read_body(call.request, ReplayBody, call.services.settings.limits.body_bytes)
    denied = partial(denied_letters, call, "WRITE")
    services = call.services
    services.quotas.write(call.tenant)
    written = partial(services.quotas.written, call.tenant)
    run = Replay(services.database, services.log, call.principal, denied, partial(_record, call), written)
    done = await run.run(body.ids)
    missing = set(body.ids or ()) - set(done) - run.denied
    return Json({"replayed": len(done), "missing": sorted(missing), "denied": sorted(run.denied)})


async def _record(call: HttpCall, ids: Sequence[int]) -> None:
    await call.record("replay.requested", "dead-letters", {"ids": list(ids)})


def _item(letter: DeadLetter, *, shows_all: bool) -> dict[str, Any]:
    # The arguments of a job are the worker's. A webhook is signed, and may be about incidents or about the users of a
    # directory. Both can hold more than a reader of metadata may see.
    hidden = letter.topic.partition("@")[0] in {JOBS, topics.INCIDENTS} and not shows_all
    original, encoding = _text(None if hidden else letter.original)
    return {
        "id": letter.id,
        "topic": letter.topic,
        "partition": letter.partition,
        "offset": letter.offset,
        "errors": letter.errors,
        "refused_at": clock.stamp(letter.refused_at),
        "replayed_at": clock.stamp(letter.replayed_at) if letter.replayed_at else None,
        "original": original,
        "encoding": encoding,
        "truncated": not hidden and (letter.length or 0) > len(letter.original or b""),
    }


def _text(original: bytes | None) -> tuple[str | None, str]:
    if original is None:
        return None, "text"
    try:
        return original.decode(), "text"
    except UnicodeDecodeError:
        return base64.b64encode(original).decode(), "base64"
