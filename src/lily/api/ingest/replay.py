"""Replays dead letters. A letter is claimed before it is replayed, so concurrent calls never replay it twice."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import orjson

from lily.api.http.errors import forbidden
from lily.bus import topics
from lily.model import clock
from lily.model.access import Principal, Scope
from lily.model.errors import Refused
from lily.model.events import read_event
from lily.model.lanes import lane_of
from lily.model.records import Position
from lily.model.run_queries import read_run_query
from lily.store.postgres.dead_letters import records
from lily.store.postgres.dead_letters.records import Replayable
from lily.store.postgres.jobs.queue import TOPIC as JOBS
from lily.store.postgres.reactions.ledger import SEPARATOR
from lily.store.postgres.sessions import Database

AUTHORITY: Final[Scope] = "policy:write"
CHUNK = 50  # originals in memory at a time; each can be a megabyte
# A refused event can be any bytes, and must not keep other dead letters from being replayed.
UNREADABLE = (Refused, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


class Log(Protocol):
    def append(self, records: Sequence[tuple[str, bytes, bytes]]) -> asyncio.Future[list[Position]]:
        """Appends records of topic, key and value. Raises Transient, or its future does, if they may not be stored."""


Denied = Callable[[Sequence[Replayable]], Awaitable[set[int]]]
Record = Callable[[Sequence[int]], Awaitable[None]]
Written = Callable[[int, int], None]  # a number of events, and their bytes


async def none_denied(_letters: Sequence[Replayable]) -> set[int]:
    return set()


def uncounted(_events: int, _octets: int) -> None:
    pass


async def unrecorded(_ids: Sequence[int]) -> None:
    pass


class Replay:
    """One call of `POST /dead-letters/replay`."""

    def __init__(  # noqa: PLR0917 - what it works with
        self,
        database: Database,
        log: Log,
        principal: Principal,
        denied: Denied = none_denied,
        record: Record = unrecorded,
        written: Written = uncounted,
    ) -> None:
        """`denied` reports which letters policies deny to the principal; they are collected in `denied`. `record`
        audits the ids that are about to be replayed, `written` counts the events and bytes that are."""
        self._database, self._log, self._principal = database, log, principal
        self._denied, self._record, self._written = denied, record, written
        self.denied: set[int] = set()

    async def run(self, ids: Sequence[int] | None) -> list[int]:
        """Replays the letters of these ids, or all that the principal may, and returns the ids of those it replayed: a
        letter that waits for the outcome of an earlier replay is left out. Raises Declined, before it replays
        anything, if the principal may not replay one of the ids."""
        # An event that is refused again becomes a new dead letter; the newest as of now bounds the loop.
        newest = await records.read_dead_letters(self._database, self._tenant, below=None, limit=1)
        replayed: list[int] = []
        above = 0
        while newest and (letters := await self._next(ids, above, newest[0].id)):
            for begin in range(0, len(letters), CHUNK):
                replayed += await self._replay(letters[begin : begin + CHUNK])
            above = letters[-1].id
        return replayed

    @property
    def _tenant(self) -> str:
        return self._principal.tenant

    async def _next(self, ids: Sequence[int] | None, above: int, newest: int) -> list[records.Unreplayed]:
        limit = CHUNK if ids is None else max(len(ids), 1)  # of given ids all at once, so that all are checked first
        letters = await records.unreplayed(
            self._database, self._tenant, ids=ids, above=above, newest=newest, limit=limit
        )
        for letter in letters if ids is not None else ():
            if (lacking := self._lacking(letter)) is not None:
                raise forbidden(f"{_described(letter)} needs the scope {lacking}", str(letter.id))
        return letters

    async def _replay(self, letters: Sequence[records.Unreplayed]) -> list[int]:
        of_reactions, of_jobs, of_log = list[int](), list[int](), list[int]()
        for letter in letters:
            if self._lacking(letter) is None:
                of_kind = of_reactions if SEPARATOR in letter.topic else of_jobs if letter.topic == JOBS else of_log
                of_kind.append(letter.id)
        if requested := sorted((*of_reactions, *of_jobs, *of_log)):
            await self._record(requested)
        return [
            *await records.replay_to_reactions(self._database, self._tenant, of_reactions),
            *await records.replay_jobs(self._database, self._tenant, of_jobs),
            *await self._append(of_log),
        ]

    def _lacking(self, letter: records.Unreplayed) -> Scope | None:
        return next((scope for scope in needed_scopes(letter) if not self._principal.may(scope)), None)

    def _unauthorised(self, letters: Sequence[Replayable]) -> set[int]:
        """What the database's look at the bytes did not find."""
        return {
            letter.id
            for letter in letters
            if not all(self._principal.may(scope) for scope in carried_scopes(letter.original))
        }

    async def _append(self, ids: Sequence[int]) -> list[int]:
        """Undoes the claim if the log does not confirm, so that the letters can be replayed again."""
        claim = datetime.now(UTC)
        letters = await records.claim(self._database, self._tenant, ids, claim)
        try:
            denied = await self._denied(letters) | self._unauthorised(letters)
            if denied:
                await records.undo_claim(self._database, self._tenant, sorted(denied), claim)
                self.denied |= denied
            letters = [letter for letter in letters if letter.id not in denied]
            if letters:
                self._written(len(letters), sum(len(letter.original or b"") for letter in letters))
                await self._log.append([(topic_of(letter), letter.key, letter.original or b"") for letter in letters])
        except BaseException:  # a cancelled request too
            await asyncio.shield(records.undo_claim(self._database, self._tenant, ids, claim))
            raise
        return [letter.id for letter in letters]


def needed_scopes(letter: records.Unreplayed) -> tuple[Scope, ...]:
    """Those of the write that is repeated. A statement that was made with `policy:write` may remove protective tags, so
    only who has it repeats that. Reactions and jobs act with the rights of the worker, not with those of a caller, so
    only an administrator repeats what they did."""
    if SEPARATOR in letter.topic or letter.topic == JOBS:
        return ("admin",)
    scope: Scope = "lineage:write" if letter.topic == topics.LINEAGE_INTAKE else "metadata:write"
    return (scope, AUTHORITY) if letter.authorised else (scope,)


def carried_scopes(original: bytes | None) -> set[Scope]:
    """The rights of its sender that an event carries along, because something is done with them once it was accepted.
    What cannot be read will be refused again."""
    try:
        data = orjson.loads(original or b"")["data"]
        return _carried_by_run(data) | ({AUTHORITY} if data.get("authorised") is True else set())
    except UNREADABLE:
        return set()


def _carried_by_run(data: Any) -> set[Scope]:
    """A run of a sender with `metadata:write` deletes what others have stated, one with `metadata:read` shows what `*`
    stands for."""
    found = set[Scope]()
    if (data.get("schemas") or data.get("tables")) and (data.get("tables") or {}).get("own_only") is not True:
        found.add("metadata:write")
    if (query := read_run_query(data.get("query"))) is not None and query.expands:
        found.add("metadata:read")
    return found


def _described(letter: records.Unreplayed) -> str:
    how = "that was stated with authority over protective tags " if letter.authorised else ""
    return f"replaying a dead letter of {letter.topic} {how}".rstrip()


def topic_of(letter: Replayable) -> str:
    """The topic it came from. An event of the bulk lane that belongs in the hot lane (a tag, a deletion) goes there."""
    if letter.topic != topics.ASSETS_BULK:
        return letter.topic
    try:
        event = read_event(orjson.loads(letter.original or b""), received=clock.now())
    except UNREADABLE:
        return letter.topic  # it will be refused there again
    return topics.OF_LANE[lane_of(event)]
