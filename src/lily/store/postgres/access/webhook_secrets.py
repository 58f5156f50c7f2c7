"""The secrets with which other systems sign their webhooks: per tenant and source, encrypted, and replaced without
downtime, because the previous one stays valid for a while."""

import uuid
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from lily.model.access import Principal
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

_PREFIX = "webhook/"


class ValidSecret(NamedTuple):
    secret: bytes
    expires_at: float | None  # seconds since the epoch


class SecretDates(NamedTuple):
    """What is shown of a source's secrets."""

    source: str
    created_at: datetime
    previous_valid_until: datetime | None


async def valid_secrets(database: Database, tenant: str, source: str, key_file: Path | None) -> list[ValidSecret]:
    """The newest first; none if there is none, or no such tenant. Raises StoreUnavailable, and Terminal if one cannot
    be decrypted."""
    rows = await database.fetch(tenant, query("access/webhook_secrets"), {"prefix": _prefix(source)})
    if not rows:
        return []
    vault = Vault.of(key_file)
    return [
        ValidSecret(vault.open(tenant, name, bytes(wrapped), bytes(sealed)).encode(), expires_at)
        for name, wrapped, sealed, expires_at in rows
    ]


async def put_secret(
    database: Database, principal: Principal, vault: Vault, *, source: str, secret: str, keep_seconds: int
) -> None:
    """Stores a new secret. The one before stays valid for so long; earlier ones end now. Raises StoreUnavailable."""
    name = f"{_prefix(source)}{uuid.uuid4()}"
    wrapped, sealed = vault.seal(principal.tenant, name, secret)
    parameters = {
        "prefix": _prefix(source),
        "name": name,
        "wrapped": wrapped,
        "sealed": sealed,
        "seconds": keep_seconds,
        "by": principal.name,
        "source": source,
    }
    await database.fetch(principal.tenant, query("access/put_webhook_secret"), parameters)


async def remove_secrets(database: Database, principal: Principal, source: str) -> bool:
    """Ends all secrets of a source at once. False if it has none. Raises StoreUnavailable."""
    parameters = {"prefix": _prefix(source), "by": principal.name, "source": source}
    ((removed, _),) = await database.fetch(principal.tenant, query("access/remove_webhook_secrets"), parameters)
    return bool(removed)


async def secret_dates(database: Database, tenant: str) -> list[SecretDates]:
    """By source. Raises StoreUnavailable."""
    rows = await database.fetch(tenant, query("access/webhook_secret_dates"), {"prefix": _PREFIX})
    return [SecretDates(*row) for row in rows]


def _prefix(source: str) -> str:
    return f"{_PREFIX}{source}/"
