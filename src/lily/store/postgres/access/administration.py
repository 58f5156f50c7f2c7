"""Administration of tenants and tokens, with the owner's role. A token is shown once; only its hash is stored."""

import hashlib
import re
import secrets
from collections.abc import Sequence
from typing import Any, get_args

import psycopg
from psycopg.rows import dict_row

from lily.model.access import TOKEN_SECONDS, Scope
from lily.model.errors import Terminal
from lily.model.values import MAX_NAME, Checker
from lily.store.postgres.access.changes import OWNER, change_statement
from lily.store.postgres.queries import query

_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_PREFIX = "lily_"
_TOKEN = re.compile(r"lily_[A-Za-z0-9_-]{43}")  # 32 random bytes


def token_hash(token: str) -> bytes:
    # A token has 256 random bits, which cannot be guessed, so it needs neither a salt nor a slow hash.
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def is_token(text: str) -> bool:
    """Whether an API token can look like this. What cannot is not looked up."""
    return _TOKEN.fullmatch(text) is not None


def create_tenant(owner_url: str, name: str, by: str = OWNER) -> None:
    """Idempotent. `by` is who creates it, for the audit."""
    if not _TENANT.fullmatch(name):
        raise Terminal(
            f"{name!r} is not a valid tenant name. Use 1 to 63 lower-case letters, digits, - and _, "
            "starting with a letter or digit."
        )
    with psycopg.connect(owner_url) as connection:
        connection.execute(query("access/create_tenant"), {"tenant": name, "by": by})


def list_tenants(owner_url: str) -> list[dict[str, Any]]:
    with psycopg.connect(owner_url, row_factory=dict_row) as connection:
        return connection.execute("select id as name, created_at from tenants order by id").fetchall()


def create_token(
    owner_url: str,
    tenant: str,
    scopes: Sequence[str],
    user: str = "",
    ttl_seconds: int | None = None,
    *,
    scraper_group: str = "",
    by: str = OWNER,
) -> str:
    """With a scraper group the token reads and writes only what the group's scraper policies cover. `by` is who
    creates it, for the audit."""
    unknown = sorted(set(scopes) - set(get_args(Scope)))
    if unknown or not scopes:
        problem = f"Unknown scopes: {', '.join(unknown)}" if unknown else "A token needs at least one scope"
        raise Terminal(f"{problem}. Use some of: {', '.join(get_args(Scope))}.")
    for what, name in (("user name", user), ("scraper group", scraper_group)):
        if name and Checker().name(name, what) != name:
            raise Terminal(
                f"{name[:64]!r} is not a valid {what}. Use up to {MAX_NAME} bytes without control characters."
            )
    if scraper_group and not {"admin", "policy:write"}.isdisjoint(scopes):
        raise Terminal(
            "A token of a scraper group cannot have the scopes admin and policy:write, which would let it change its "
            "own policies. Name the scopes that it needs, such as metadata:write."
        )
    token = _new_secret()
    with psycopg.connect(owner_url) as connection:
        try:
            connection.execute(
                change_statement("token.created"),
                {
                    "tenant": tenant,
                    "hash": token_hash(token),
                    "scopes": list(dict.fromkeys(scopes)),
                    "user": user,
                    "ttl_seconds": ttl_seconds,
                    "scraper_group": scraper_group,
                    "by": by,
                    "action": "token.created",
                },
            )
        except psycopg.errors.ForeignKeyViolation as error:
            raise Terminal(f"There is no tenant {tenant!r}. Create it with `lily tenant create {tenant}`.") from error
    return token


def list_tokens(owner_url: str, tenant: str) -> list[dict[str, Any]]:
    with psycopg.connect(owner_url, row_factory=dict_row) as connection:
        return connection.execute(
            "select id, tenant_id as tenant, scopes, user_name as user, scraper_group, created_at, expires_at, "
            "revoked_at, last_used_at, replaces "
            "from tokens where tenant_id = %s order by created_at",
            [tenant],
        ).fetchall()


def rotate_token(
    owner_url: str, token_id: str, grace_seconds: int, ttl_seconds: int | None = None, by: str = OWNER
) -> str:
    """Returns a new token with the scopes, user and group of this one, which is valid for the grace period from now on.
    The new one is valid for `ttl_seconds`; if None, as long as the old one was meant to be, or TOKEN_SECONDS if that
    was for ever. Raises Terminal if the token is not valid, or was rotated before."""
    token = _new_secret()
    values = {
        "id": token_id,
        "hash": token_hash(token),
        "grace_seconds": grace_seconds,
        "ttl_seconds": ttl_seconds,
        "default_seconds": TOKEN_SECONDS,
        "by": by,
        "action": "token.rotated",
    }
    with psycopg.connect(owner_url) as connection:
        try:
            row = connection.execute(change_statement("token.rotated"), values).fetchone()
        except psycopg.DataError as error:
            raise _bad_id(token_id) from error
        except psycopg.errors.UniqueViolation as error:
            raise _rotated(token_id) from error
    if row is None or not row[0]:
        raise Terminal(
            f"There is no valid token with the id {token_id}: it has expired or was revoked. `lily token list` shows "
            "the tokens, `lily token create` makes a new one."
        )
    return token


def revoke_token(owner_url: str, token_id: str, by: str = OWNER) -> bool:
    """Takes effect at once: the API is notified and clears its cache. Returns False if no such token is valid."""
    values = {"id": token_id, "by": by, "action": "token.revoked"}
    with psycopg.connect(owner_url) as connection:
        try:
            row = connection.execute(change_statement("token.revoked"), values).fetchone()
        except psycopg.DataError as error:
            raise _bad_id(token_id) from error
    return row is not None and bool(row[0])


def seconds_left(owner_url: str, token: str) -> float:
    """How long the token is still valid: 0 if it is not, infinity if it does not expire."""
    with psycopg.connect(owner_url) as connection:
        found = connection.execute(
            "select extract(epoch from coalesce(expires_at, 'infinity') - now())::float8 from authenticate(%s)",
            [token_hash(token)],
        ).fetchone()
    return float(found[0]) if found else 0.0


def _new_secret() -> str:
    return _PREFIX + secrets.token_urlsafe(32)


def _bad_id(token_id: str) -> Terminal:
    return Terminal(f"{token_id!r} is not a valid token id. See `lily token list`.")


def _rotated(token_id: str) -> Terminal:
    return Terminal(
        f"The token {token_id} was rotated before. `lily token list` shows which token replaces it: rotate that one."
    )
