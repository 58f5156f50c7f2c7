"""The claims of a verified access token: whether it is valid here and now, and the principal it stands for."""

import time
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from lily.api.auth.oidc.errors import InvalidToken
from lily.issuers import Issuer
from lily.model.access import Principal, Scope
from lily.model.values import MAX_ITEMS, MAX_NAME, Checker

SCOPES = frozenset(get_args(Scope))
# Hashes that only an ID token has (OpenID Connect Core 3.1.3.6, 3.3.2.11), and the mark of a logout or event token.
_NOT_IN_ACCESS_TOKENS = ("at_hash", "c_hash", "s_hash", "events")
_KEYCLOAK_TYPES = frozenset({"id", "refresh", "offline", "logout"})  # Keycloak has its own claim for the kind of token
END_OF_TIME = 253_402_300_800  # the year 10000, which PostgreSQL's driver and Python cannot represent

Claims = Mapping[str, Any]


def principal_from(claims: Claims, issuer: Issuer, now: float | None = None) -> Principal:
    """Raises InvalidToken with the reason."""
    _check_kind(claims)
    _check_addressee(claims, issuer)
    expires_at = _check_times(claims, issuer, time.time() if now is None else now)
    groups = _groups(claims, issuer.groups_claim)
    return Principal(
        token_id="",
        tenant=issuer.tenant,
        user=_user(claims, issuer.user_claim),
        scopes=frozenset(_scopes(claims, issuer, groups)),
        expires_at=expires_at,
        groups=groups,
        issuer=issuer.issuer,
    )


def _check_kind(claims: Claims) -> None:
    if any(name in claims for name in _NOT_IN_ACCESS_TOKENS) or str(claims.get("typ")).lower() in _KEYCLOAK_TYPES:
        raise InvalidToken("type", "this is an ID token or the like; send the access token")
    if "cnf" in claims:
        raise InvalidToken("type", "the access token is bound to a key of its client (cnf), which is not supported")


def _check_addressee(claims: Claims, issuer: Issuer) -> None:
    if claims.get("iss") != issuer.issuer:
        raise InvalidToken("issuer", "the access token is of another issuer")
    audience = claims.get("aud")
    if issuer.audience not in (audience if isinstance(audience, list) else [audience]):
        raise InvalidToken("audience", f"the access token is for another audience: aud must contain {issuer.audience}")
    client = claims.get("azp", claims.get("client_id"))
    if issuer.client_ids and client not in issuer.client_ids:
        raise InvalidToken("client", "the access token was issued to a client (azp, client_id) that is not accepted")


def _check_times(claims: Claims, issuer: Issuer, now: float) -> float:
    """Returns when it expires, with the skew."""
    skew = issuer.clock_skew_seconds
    if "exp" not in claims:
        raise InvalidToken("claims", "the access token has no expiry (exp)")
    expires_at = _seconds(claims, "exp") + skew
    if expires_at <= now:
        raise InvalidToken("expired", "the access token has expired; get a new one from the identity provider")
    if "nbf" in claims and _seconds(claims, "nbf") - skew > now:
        raise InvalidToken("not_yet_valid", "the access token is not valid yet (nbf); compare the clocks")
    if "iat" in claims and _seconds(claims, "iat") - skew > now:
        raise InvalidToken("not_yet_valid", "the access token was issued in the future (iat); compare the clocks")
    return expires_at


def _seconds(claims: Claims, name: str) -> float:
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < END_OF_TIME:
        raise InvalidToken("claims", f"the claim {name} of the access token must be a time in seconds since 1970")
    return float(value)


def _user(claims: Claims, name: str) -> str:
    if claims.get(name) is None:
        raise InvalidToken("claims", f"the access token has no claim {name}, which has to name the user")
    user = Checker().name(claims[name], name)
    if user is None:
        raise InvalidToken(
            "claims", f"the claim {name} must be a name of up to {MAX_NAME} bytes without control characters"
        )
    return user


def _groups(claims: Claims, path: str) -> frozenset[str]:
    """No claim, no groups. One that cannot be read is refused: a rule that denies a group must not be evaded by it."""
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, dict) and path in elsewhere:
        raise InvalidToken("claims", f"the provider left {path} out of the access token because there are too many")
    found = _at(claims, path)
    if found is None:
        return frozenset()
    checker = Checker()
    groups = checker.names([found] if isinstance(found, str) else found, path)
    if groups is None or checker.problems:
        raise InvalidToken("claims", f"the claim {path} must be a list of at most {MAX_ITEMS} names")
    return frozenset(groups)


def _at(claims: Claims, path: str) -> Any:
    """A claim by its name, which may itself have dots (https://example.com/groups), or by a path of names."""
    if path in claims:
        return claims[path]
    value: Any = claims
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _scopes(claims: Claims, issuer: Issuer, groups: Iterable[str]) -> set[str]:
    scopes: set[str] = set(issuer.scopes)
    for group in groups:
        scopes.update(issuer.group_scopes.get(group, ()))
    stated = claims.get("scope")
    if issuer.trust_scope_claim and isinstance(stated, str):
        scopes |= SCOPES & set(stated.split())
    return scopes
