"""Tokens and tickets for the API, whose role may look up one hash but never list them."""

import hashlib
import secrets
from collections.abc import Collection
from typing import Any

from lily.model.access import Principal
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

TICKET_SECONDS = 30


async def principal_of(database: Database, token_hash: bytes) -> Principal | None:
    """The principal of a token; None if the token is unknown, expired or revoked."""
    return _principal(await database.fetch(None, query("access/authenticate"), {"hash": token_hash}))


async def record_uses(database: Database, token_ids: Collection[str]) -> None:
    """Records that the tokens are in use now. Raises StoreUnavailable."""
    await database.fetch(None, query("access/record_token_uses"), {"used": sorted(token_ids)})


async def issue_ticket(database: Database, principal: Principal) -> str:
    """Issues a single-use password for one WebSocket connection."""
    ticket = secrets.token_urlsafe(32)
    values = {"hash": _hash(ticket), "seconds": TICKET_SECONDS}
    if principal.issuer:
        await database.fetch(principal.tenant, query("access/issue_user_ticket"), values | _stored(principal))
    else:
        await database.fetch(principal.tenant, query("access/issue_ticket"), values | {"token": principal.token_id})
    return ticket


async def redeem_ticket(database: Database, ticket: str) -> Principal | None:
    return _principal(await database.fetch(None, query("access/redeem_ticket"), {"hash": _hash(ticket)}))


async def still_valid(database: Database, principal: Principal) -> bool:
    """Whether the principal's token is valid and its user is not disabled. The role cannot look up a token by id, so it
    redeems a ticket of it."""
    return await redeem_ticket(database, await issue_ticket(database, principal)) is not None


def _stored(principal: Principal) -> dict[str, Any]:
    """A user who signed in has no token in the database, so the ticket keeps the principal."""
    return {
        "user": principal.user,
        "scopes": sorted(principal.scopes),
        "groups": sorted(principal.groups),
        "issuer": principal.issuer,
        "valid_until": principal.expires_at,
    }


def _principal(rows: list[tuple[Any, ...]]) -> Principal | None:
    if not rows:
        return None
    token_id, tenant, user, scopes, expires_at, groups, issuer, scraper_group = rows[0]
    expiry = expires_at.timestamp() if expires_at else None
    return Principal(token_id, tenant, user, frozenset(scopes), expiry, frozenset(groups), issuer, scraper_group)


def _hash(ticket: str) -> bytes:
    return hashlib.sha256(ticket.encode("utf-8", "replace")).digest()
