"""An access token before it is verified. All that is read from it here only selects how it is verified."""

import binascii
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from typing import Any

import orjson

from lily.api.auth.oidc.errors import InvalidToken

MAX_LENGTH = 8192  # as much as servers and proxies commonly accept in one header
_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})  # RFC 9068 names the last two; older providers send JWT


def looks_like_jwt(token: str) -> bool:
    return token.count(".") == 2


@dataclass(frozen=True, slots=True)
class Unverified:
    issuer: str
    algorithm: str
    key_id: str | None


def parse_unverified(token: str) -> Unverified:
    """Raises InvalidToken."""
    if len(token) > MAX_LENGTH:
        raise InvalidToken("malformed", f"the access token is longer than {MAX_LENGTH} characters")
    header, payload, _ = token.split(".")
    fields, claims = _object(header), _object(payload)
    _check_header(fields)
    issuer, algorithm, key_id = claims.get("iss"), fields.get("alg"), fields.get("kid")
    if not isinstance(issuer, str) or not isinstance(algorithm, str) or not isinstance(key_id, str | None):
        raise InvalidToken("malformed", "the access token must have strings as issuer (iss), alg and kid")
    return Unverified(issuer, algorithm, key_id)


def _check_header(fields: dict[str, Any]) -> None:
    if "crit" in fields or "b64" in fields:
        raise InvalidToken("type", "the access token requires an extension (crit) that is not supported")
    kind = fields.get("typ", "JWT")
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise InvalidToken("type", "this is not an access token: its type (typ) must be at+jwt or JWT")


def _object(part: str) -> dict[str, Any]:
    try:
        value = orjson.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError) as error:
        raise InvalidToken("malformed", "the access token is not a valid JSON Web Token") from error
    if not isinstance(value, dict):
        raise InvalidToken("malformed", "the access token is not a valid JSON Web Token")
    return value
