"""Verifies access tokens, each with the keys of the issuer that it names, if that issuer is configured."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson
from joserfc import jws
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError, UnsupportedAlgorithmError
from joserfc.jwk import KeySet
from prometheus_client import Counter

from lily.api.auth.oidc.bearer import MAX_LENGTH, Unverified, parse_unverified
from lily.api.auth.oidc.claims import principal_from
from lily.api.auth.oidc.errors import InvalidToken
from lily.api.auth.oidc.keys import IssuerKeys
from lily.issuers import Issuer
from lily.model.access import Principal
from lily.model.errors import Transient

UNKNOWN = "none"  # the label of an issuer that is not configured

Admit = Callable[[Principal], Awaitable[None]]


class IssuerVerifier:
    """Verifies the tokens of one issuer. `index` is its label in metrics: its position in the settings."""

    def __init__(self, index: str, issuer: Issuer, keys: IssuerKeys) -> None:
        self.index, self.keys = index, keys
        self._issuer = issuer
        self._registry = _Registry(algorithms=issuer.algorithms, strict_check_header=False)

    async def principal_of(self, token: str, stated: Unverified) -> Principal:
        """Raises InvalidToken, ProviderUnavailable."""
        if stated.algorithm not in self._issuer.algorithms:
            accepted = ", ".join(self._issuer.algorithms)
            raise InvalidToken("algorithm", f"the access token is not signed with an accepted algorithm: {accepted}")
        keys = await self.keys.holding(stated.key_id)
        return principal_from(self._verified(token, keys), self._issuer)

    def _verified(self, token: str, keys: KeySet) -> Mapping[str, Any]:
        try:
            signed = jws.deserialize_compact(token, keys, registry=self._registry)
        except InvalidKeyIdError as error:
            raise InvalidToken("key", "the access token is signed with a key that its issuer does not have") from error
        except (BadSignatureError, UnsupportedAlgorithmError) as error:
            raise InvalidToken("signature", "the signature of the access token is not valid") from error
        except (JoseError, ValueError, TypeError, RecursionError) as error:
            raise InvalidToken("malformed", "the access token cannot be verified: it is malformed") from error
        claims = orjson.loads(signed.payload or b"null")
        return claims if isinstance(claims, dict) else {}


class Verifier:
    """Verifies the tokens of all configured issuers. `admit` is called with each principal, and raises what keeps it
    out."""

    def __init__(self, issuers: Mapping[str, IssuerVerifier], logins: Counter, admit: Admit) -> None:
        self._issuers, self._logins, self._admit = issuers, logins, admit

    def __bool__(self) -> bool:
        return bool(self._issuers)

    async def principal_of(self, token: str) -> Principal:
        """Raises InvalidToken, ProviderUnavailable, and what `admit` raises."""
        index, outcome = UNKNOWN, "failed"
        try:
            stated = parse_unverified(token)
            issuer = self._issuer_of(stated)
            index = issuer.index
            principal = await issuer.principal_of(token, stated)
            await self._admit(principal)
            outcome = "accepted"
        except InvalidToken as error:
            outcome = error.cause
            raise
        except Transient:
            outcome = "unavailable"
            raise
        finally:
            self._logins.labels(index, outcome).inc()
        return principal

    def _issuer_of(self, stated: Unverified) -> IssuerVerifier:
        issuer = self._issuers.get(stated.issuer)
        if issuer is None:
            raise InvalidToken("issuer", "the issuer (iss) of the access token is not configured here")
        return issuer

    async def run(self) -> None:
        """Keeps the keys of all issuers fresh until it is cancelled."""
        try:
            await asyncio.gather(*(issuer.keys.run() for issuer in self._issuers.values()))
        finally:
            for issuer in self._issuers.values():
                await issuer.keys.close()


class _Registry(jws.JWSRegistry):
    max_header_length = MAX_LENGTH  # a certificate chain (x5c) takes more than the library's limit

    def get_alg(self, name: str) -> Any:
        # Without the library's warning at each use of EdDSA, which RFC 9864 renames but providers still write.
        if name not in (self.allowed or ()):
            raise UnsupportedAlgorithmError
        return self.algorithms[name]
