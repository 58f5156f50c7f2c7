"""One WebSocket connection: sends what its listener hears until somebody has a reason to end it."""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, NamedTuple

import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect

from lily.api.services import Services
from lily.api.websocket.hub import Listener
from lily.bus.offsets import Offsets
from lily.model.access import Principal
from lily.model.errors import Terminal, Transient
from lily.store.postgres.access import tokens

RECHECK_SECONDS = 60.0  # news of changed access can be lost with its connection; a revoked token listens no longer
CLOSE_SECONDS = 30.0  # the farewell stands in line behind what the other side has not read yet
POLICY, TRY_LATER = 1008, 1013

log = structlog.get_logger()


class Farewell(NamedTuple):
    code: int
    reason: str  # at most 123 bytes: RFC 6455


@dataclass(frozen=True, slots=True)
class Session:
    websocket: WebSocket
    services: Services
    principal: Principal
    listener: Listener
    since: Offsets | None

    async def run(self) -> None:
        farewell = await _first(self._send(), self._hear_out(), self._watch_pace(), self._watch_access())
        log.info("websocket.closed", code=farewell.code if farewell else None)
        if farewell is not None:
            try:
                await asyncio.wait_for(self.websocket.close(*farewell), CLOSE_SECONDS)
            except (TimeoutError, WebSocketDisconnect, RuntimeError):
                log.info("websocket.unheard", reason=farewell.reason)

    async def _send(self) -> Farewell | None:
        try:
            async with aclosing(self.services.hub.messages(self.listener, self.since)) as messages:
                async for message in messages:
                    await self.websocket.send_text(message)
        except Terminal as error:
            return Farewell(POLICY, str(error)[:120])
        except Transient as error:
            return Farewell(TRY_LATER, str(error)[:120])
        except WebSocketDisconnect:
            return None
        return None

    async def _hear_out(self) -> None:
        """Until the other side leaves; what it says meanwhile has no meaning."""
        while (await self.websocket.receive())["type"] != "websocket.disconnect":
            """Read on."""

    async def _watch_pace(self) -> Farewell:
        await self.listener.overrun.wait()
        return Farewell(TRY_LATER, "too slow to follow; resume with ?since= the position of the last message")

    async def _watch_access(self) -> Farewell:
        while True:
            change = self.services.principals.next_change()
            if not await self._is_welcome():
                return Farewell(POLICY, "the token has expired or was revoked")
            left = (self.principal.expires_at or float("inf")) - time.time()
            try:
                await asyncio.wait_for(change.wait(), max(min(left, RECHECK_SECONDS), 0))
            except TimeoutError:
                continue

    async def _is_welcome(self) -> bool:
        expires_at = self.principal.expires_at
        if expires_at is not None and expires_at <= time.time():
            return False
        try:
            return await tokens.still_valid(self.services.database, self.principal)
        except Transient:
            return True  # the database is away; it is asked again


async def _first(*ways: Coroutine[Any, Any, Farewell | None]) -> Farewell | None:
    """Runs all until one ends, and ends the others."""
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(iter(done)).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
