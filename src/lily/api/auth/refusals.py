"""Audits refusals for lack of authority. A caller that repeats a refused call does not fill the audit: the first one is
an entry of its own, those of the next minute are counted and become one entry."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import structlog

from lily.model import clock
from lily.model.access import Principal
from lily.model.errors import LilyError, Problem
from lily.store.postgres.audit.entries import AuditEntry, record
from lily.store.postgres.audit.origin import ORIGIN, Origin
from lily.store.postgres.sessions import Database

ACTION = "access.refused"
WINDOW_SECONDS = 60.0
TURN_SECONDS = 5.0
ROOM = 10_000  # windows; refusals beyond that are counted together, per tenant
SEVERAL = "several"

log = structlog.get_logger()


class _Key(NamedTuple):
    tenant: str
    principal: str
    token: str
    operation: str


@dataclass(slots=True)
class _Window:
    """The refusals of one principal and operation that are not written yet."""

    until: float
    since: str
    origin: Origin
    problem: Problem
    count: int = 0

    def add(self, origin: Origin, problem: Problem) -> None:
        self.since = self.since if self.count else clock.now()
        self.origin, self.problem, self.count = origin, problem, self.count + 1


class Refusals:
    """Of one process. An entry that PostgreSQL does not take is counted with those of the next minute."""

    def __init__(self, database: Database, now: Callable[[], float] = time.monotonic) -> None:
        self._database, self._now = database, now
        self._windows: dict[_Key, _Window] = {}

    async def record(self, principal: Principal, origin: Origin, operation: str, problem: Problem) -> None:
        """Returns when the entry is written, or the refusal is counted. Does not raise if the store does not respond:
        the caller is refused in any case."""
        key = _Key(principal.tenant, principal.name, principal.token_id, operation)
        if key not in self._windows and len(self._windows) >= ROOM:
            key = _Key(principal.tenant, SEVERAL, "", SEVERAL)
        window = self._windows.get(key)
        if window is not None:
            window.add(origin, problem)
            return
        window = self._windows[key] = _Window(self._now() + WINDOW_SECONDS, clock.now(), origin, problem)
        window.add(origin, problem)
        await self._write(key, window)

    async def run(self) -> NoReturn:
        while True:
            await asyncio.sleep(TURN_SECONDS)
            await self.write_due()

    async def write_due(self) -> None:
        """Writes what the windows that have ended counted. One with nothing to write is forgotten."""
        now = self._now()
        for key, window in [one for one in self._windows.items() if one[1].until <= now]:
            if window.count:
                window.until = now + WINDOW_SECONDS
                await self._write(key, window)
            else:
                del self._windows[key]

    async def close(self) -> None:
        """Writes what was counted and not written yet."""
        for key, window in self._windows.items():
            if window.count:
                await self._write(key, window)

    async def _write(self, key: _Key, window: _Window) -> None:
        count, window.count = window.count, 0
        described = {**window.problem.as_dict(), "count": count, "since": window.since}
        before = ORIGIN.set(window.origin)
        try:
            await record(self._database, AuditEntry(key.tenant, key.principal, ACTION, key.operation, described))
        except LilyError as error:
            window.count += count
            log.warning("audit.delayed", action=ACTION, reason=str(error))
        except BaseException:  # a cancelled request too
            window.count += count
            raise
        finally:
            ORIGIN.reset(before)
