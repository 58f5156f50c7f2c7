"""Tokens and tickets as the serving role meets them: it may ask about one hash, never list."""

import hashlib
import secrets
from datetime import datetime

from lily.model.access import Principal
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

TICKET_SECONDS = 30


async def principal_of(database: Database, token_hash: bytes) -> Principal | None:
    """Who shows this token; None if there is no such token, or it is expired or revoked."""
    return _principal(await database.fetch(None, query("access/authenticate"), {"hash": token_hash}))


async def issue_ticket(database: Database, principal: Principal) -> str:
    """A password for one WebSocket, good for one use."""
    ticket = secrets.token_urlsafe(32)
    stored = {
        "hash": _hash(ticket),
        "token": principal.token_id,
        "seconds": TICKET_SECONDS,
    }
    await database.fetch(principal.tenant, query("access/issue_ticket"), stored)
    return ticket


async def redeem_ticket(database: Database, ticket: str) -> Principal | None:
    return _principal(await database.fetch(None, query("access/redeem_ticket"), {"hash": _hash(ticket)}))


async def still_valid(database: Database, principal: Principal) -> bool:
    """Whether the token behind a principal is good. The role cannot look a token up by id; a ticket of it can."""
    return await redeem_ticket(database, await issue_ticket(database, principal)) is not None


def _principal(rows: list[tuple[str, str, str, list[str], datetime | None]]) -> Principal | None:
    if not rows:
        return None
    token_id, tenant, user, scopes, expires_at = rows[0]
    return Principal(token_id, tenant, user, frozenset(scopes), expires_at.timestamp() if expires_at else None)


def _hash(ticket: str) -> bytes:
    return hashlib.sha256(ticket.encode("utf-8", "replace")).digest()
