"""One WebSocket connection: sends messages until one side closes it, the listener is too slow, or access ends.

If the policies in force cannot be known, the connection is closed: the client resumes at its last position.
"""

import asyncio
import time
from collections.abc import Collection, Coroutine, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect

from lily.api import background
from lily.api.auth.facts import facts_of_references
from lily.api.auth.restrictions import Restrictions, restrictions_of
from lily.api.services import Services
from lily.api.websocket.hub import Listener, Outgoing
from lily.api.websocket.messages import without_words
from lily.bus.offsets import Offsets
from lily.model.access import Principal
from lily.model.errors import Terminal, Transient
from lily.policy import Context
from lily.store.postgres.access import tokens
from lily.store.postgres.incidents import reader

RECHECK_SECONDS = 60.0  # a notification of changed access can be lost; a revoked token listens no longer than this
CLOSE_SECONDS = 30.0  # the close frame is queued behind the messages that the client has not read yet
POLICY, TRY_LATER = 1008, 1013

log = structlog.get_logger()


class CloseReason(NamedTuple):
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
        closing = await _first(self._send(), self._until_disconnect(), self._watch_queue(), self._watch_access())
        log.info("websocket.closed", code=closing.code if closing else None)
        if closing is not None:
            try:
                await asyncio.wait_for(self.websocket.close(*closing), CLOSE_SECONDS)
            except (TimeoutError, WebSocketDisconnect, RuntimeError):
                log.info("websocket.unheard", reason=closing.reason)

    async def _send(self) -> CloseReason | None:
        try:
            async with aclosing(self.services.hub.messages(self.listener, self.since)) as messages:
                async for batch in messages:
                    for message in await self._permitted(batch):
                        await self.websocket.send_text(message.text)
        except Terminal as error:
            return CloseReason(POLICY, str(error)[:120])
        except Transient as error:
            return CloseReason(TRY_LATER, str(error)[:120])
        except WebSocketDisconnect:
            return None
        return None

    async def _permitted(self, batch: Sequence[Outgoing]) -> Sequence[Outgoing]:
        """The messages about assets that no policy denies to the listener, and about incidents if its scopes cover
        them. The policies in force decide, so a change of them applies to the next message."""
        if not self.principal.may("incidents:read"):
            batch = [message for message in batch if not message.incident]
        restrictions = await restrictions_of(self.services, self.principal, "READ")
        if restrictions is None:
            return batch
        denied = await self._denied(restrictions, {message.asset for message in batch if message.asset})
        shown = [one for one in batch if one.asset not in denied]
        return await self._without_hidden_names(restrictions, shown)

    async def _without_hidden_names(self, restrictions: Restrictions, batch: Sequence[Outgoing]) -> Sequence[Outgoing]:
        """The title of an incident may name any of its assets, also in an alert about one that is only at risk."""
        incidents = {one.incident for one in batch if one.incident}
        assets = await reader.concerned(self.services.database, self.principal.tenant, incidents)
        denied = await self._denied(restrictions, set().union(*assets.values()))
        shown = {"", *(incident for incident, names in assets.items() if denied.isdisjoint(names))}
        return [one if one.incident in shown else one._replace(text=without_words(one.text)) for one in batch]

    async def _denied(self, restrictions: Restrictions, assets: Collection[str]) -> set[str]:
        facts = await facts_of_references(self.services, restrictions, assets)
        address = self.websocket.client.host if self.websocket.client else None
        context = Context(now=datetime.now(UTC), address=address)
        return {name for name, one in facts.items() if restrictions.denial("READ", one, context) is not None}

    async def _until_disconnect(self) -> None:
        """Returns when the client disconnects. Messages from the client are ignored."""
        while (await self.websocket.receive())["type"] != "websocket.disconnect":
            pass

    async def _watch_queue(self) -> CloseReason:
        await self.listener.overrun.wait()
        return CloseReason(TRY_LATER, "too slow to follow; resume with ?since= the position of the last message")

    async def _watch_access(self) -> CloseReason:
        while True:
            change = self.services.principals.next_change()
            if not await self._has_access():
                return CloseReason(POLICY, "the token has expired or was revoked")
            left = (self.principal.expires_at or float("inf")) - time.time()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, RECHECK_SECONDS)):
                    await change.wait()

    async def _has_access(self) -> bool:
        expires_at = self.principal.expires_at
        if expires_at is not None and expires_at <= time.time():
            return False
        try:
            return await tokens.still_valid(self.services.database, self.principal)
        except Transient:
            return True  # the database is unavailable; access is checked again later


async def _first(*coroutines: Coroutine[Any, Any, CloseReason | None]) -> CloseReason | None:
    """The result of the first to finish; the others are cancelled."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(iter(done)).result()
    finally:
        await background.end(*tasks)
