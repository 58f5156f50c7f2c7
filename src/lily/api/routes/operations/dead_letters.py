"""`/dead-letters`: events that the pipeline or a reaction refused; list them, and replay them."""

import base64
from typing import Any

import orjson
from fastapi import APIRouter

from lily.api.auth.dead_letters import denied_letters
from lily.api.calls import Call, Reads, Writes
from lily.api.http import cursors
from lily.api.http.bodies import read_body
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.requests import REPLAY_SCHEMA, ReplayBody
from lily.api.http.openapi.responses import DeadLetters, Json, Replayed
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.bus import topics
from lily.model import clock
from lily.model.errors import Refused
from lily.model.events import read_event
from lily.model.lanes import lane_of
from lily.store.postgres.dead_letters.records import (
    DeadLetter,
    Replayable,
    mark_replayed,
    read_dead_letters,
    replay_jobs,
    replay_to_reactions,
    replayable,
)
from lily.store.postgres.jobs.queue import TOPIC as JOBS
from lily.store.postgres.reactions.ledger import SEPARATOR

CHUNK = 50  # originals in memory at a time; each can be a megabyte
MAX_READS = 5  # of one page, where policies deny some of the letters to the caller
# A refused event can be any bytes, and must not keep other dead letters from being replayed.
UNREADABLE = (Refused, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)

router = APIRouter(tags=["dead letters"])


@router.get("/dead-letters", responses={200: {"model": DeadLetters}})
async def dead_letters(call: Reads, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns dead letters, newest first: the refused event, why it was refused, and where it came from. Those of
    assets that a policy denies to the caller are left out."""
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
    return Json({"items": [_item(letter) for letter in items], "next_cursor": more})


@router.post(
    "/dead-letters/replay",
    responses={200: {"model": Replayed}},
    openapi_extra=body_schema(REPLAY_SCHEMA, examples.REPLAY),
)
async def replay(call: Writes) -> Json:
    """Replays dead letters: those named by id, or with `all` every one not replayed yet.

    An event that the pipeline refused is appended to the log again; one that a reaction could not handle is passed to
    that reaction again; a job is queued again. `denied` names those of assets that a policy denies to the caller."""
    body = await read_body(call.request, ReplayBody, call.services.settings.limits.body_bytes)
    # An event that is refused again becomes a new dead letter; the newest as of now bounds the loop.
    newest = await read_dead_letters(call.services.database, call.tenant, below=None, limit=1)
    done: list[int] = []
    denied: set[int] = set()
    above = 0
    while newest and (batch := await _next(call, body.ids, above, newest[0].id)):
        above = batch[-1].id
        denied |= await denied_letters(call, "WRITE", batch)
        permitted = [letter for letter in batch if letter.id not in denied]
        await _append(call, permitted)
        done += [letter.id for letter in permitted]
    missing = set(body.ids or ()) - set(done) - denied
    return Json({"replayed": len(done), "missing": sorted(missing), "denied": sorted(denied)})


async def _next(call: Call, ids: list[int] | None, above: int, newest: int) -> list[Replayable]:
    return await replayable(call.services.database, call.tenant, ids=ids, above=above, newest=newest, limit=CHUNK)


async def _append(call: Call, batch: list[Replayable]) -> None:
    """Marks a dead letter only after the log has confirmed it, so one that fails in between can be replayed again."""
    database = call.services.database
    if of_reactions := [letter.id for letter in batch if SEPARATOR in letter.topic]:
        await replay_to_reactions(database, call.tenant, of_reactions)
    if of_jobs := [letter.id for letter in batch if letter.topic == JOBS]:
        await replay_jobs(database, call.tenant, of_jobs)
    if refused := [letter for letter in batch if SEPARATOR not in letter.topic and letter.topic != JOBS]:
        await call.services.log.append([(_topic(letter), letter.key, letter.original or b"") for letter in refused])
        await mark_replayed(database, call.tenant, [letter.id for letter in refused])


def _topic(letter: Replayable) -> str:
    """The topic it came from. An event of the bulk lane that belongs in the hot lane (a tag, a deletion) goes there."""
    if letter.topic != topics.ASSETS_BULK:
        return letter.topic
    try:
        event = read_event(orjson.loads(letter.original or b""), received=clock.now())
    except UNREADABLE:
        return letter.topic  # it will be refused there again
    return topics.OF_LANE[lane_of(event)]


def _item(letter: DeadLetter) -> dict[str, Any]:
    original, encoding = _text(letter.original)
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
        "truncated": (letter.length or 0) > len(letter.original or b""),
    }


def _text(original: bytes | None) -> tuple[str | None, str]:
    if original is None:
        return None, "text"
    try:
        return original.decode(), "text"
    except UnicodeDecodeError:
        return base64.b64encode(original).decode(), "base64"
