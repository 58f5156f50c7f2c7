"""`/ws/notifications`: changes as they happen. `/ws/tickets`: tickets with which browsers connect."""

from functools import partial
from typing import cast

from fastapi import APIRouter, WebSocket

from lily.api.calls import Reads, address_of, bearer
from lily.api.http.errors import error_response, forbidden, unauthenticated
from lily.api.http.openapi.responses import Json, Ticket
from lily.api.http.query import refuse_unknown
from lily.api.http.server.correlation import correlation_of
from lily.api.services import Services
from lily.api.websocket.hub import Listener
from lily.api.websocket.messages import MessageFilter, seal_position, unseal_position
from lily.api.websocket.session import Session
from lily.bus.offsets import Offsets
from lily.model.access import Principal
from lily.model.errors import LilyError, Problem, Refused
from lily.store.postgres.access import tokens
from lily.store.postgres.audit.origin import Origin

PATH = "/ws/notifications"
FILTERS = ("entity_type", "change", "metadata_id", "tag")
PARAMETERS = frozenset({*FILTERS, "since", "ticket"})

router = APIRouter(tags=["notifications"])


@router.post("/ws/tickets", responses={200: {"model": Ticket}})
async def ticket(call: Reads) -> Json:
    """Issues a ticket for one WebSocket connection. A browser, which cannot send an `Authorization` header with a
    WebSocket, connects to `/ws/notifications?ticket=TICKET`."""
    issued = await tokens.issue_ticket(call.services.database, call.principal)
    return Json({"ticket": issued, "expires_in": tokens.TICKET_SECONDS})


@router.websocket(PATH)
async def notifications(websocket: WebSocket) -> None:
    """Sends the tenant's changes, filtered by the query parameters; `since` resumes after a position."""
    services = cast("Services", websocket.app.services)
    try:
        principal = await _authenticated(websocket, services)
        services.quotas.count(principal)
        refuse_unknown(websocket.query_params.keys(), PARAMETERS)
        listener, since = _listener(websocket, principal), _since(websocket)
        async with services.hub.following(principal.tenant, services.quotas.connections(principal.tenant)):
            # The position is taken before the handshake, so changes during the handshake are sent too.
            since = since or services.hub.offsets()
            position = seal_position(since)
            await websocket.accept(headers=[(b"lily-position", position.encode())])
            await Session(websocket, services, principal, listener, since).run()
    except LilyError as error:
        await websocket.send_denial_response(error_response(error))


async def _authenticated(websocket: WebSocket, services: Services) -> Principal:
    """Raises Declined before the connection is accepted. A ticket is valid once."""
    ticket, address = websocket.query_params.get("ticket"), address_of(websocket)
    token = bearer(websocket.headers.get("authorization", ""))
    if ticket is not None:
        redeem = partial(tokens.redeem_ticket, services.database, ticket)
        principal = await services.strangers.look_up(address, ticket, redeem)
        if principal is None:
            raise unauthenticated("the ticket was used or has expired; get another one: `POST /ws/tickets`")
    else:
        principal = await services.principals.of(token, address) if token else None
    if principal is None:
        raise unauthenticated()
    if not principal.may("metadata:read"):
        refused = forbidden("listening needs the scope metadata:read", PATH)
        origin = Origin(principal.token_id, address, correlation_of(websocket.scope))
        await services.refusals.record(principal, origin, f"GET {PATH}", refused.problems[0])
        raise refused
    return principal


def _since(websocket: WebSocket) -> Offsets | None:
    text = websocket.query_params.get("since")
    try:
        return None if text is None else unseal_position(text)
    except ValueError as error:
        description = "since is not a valid position; send the `position` of a message, or leave it out"
        raise Refused(Problem("INVALID_VALUE", description, "since")) from error


def _listener(websocket: WebSocket, principal: Principal) -> Listener:
    given = {name: websocket.query_params.getlist(name) for name in FILTERS}
    return Listener(principal.tenant, MessageFilter.of(principal.tenant, given))
