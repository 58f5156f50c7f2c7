"""Fetches the signing keys of an issuer: its discovery document, then the key set that the document names."""

import asyncio
from typing import Any

import httpx
import orjson
import structlog
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet

from lily.api.auth.oidc.errors import ProviderUnavailable
from lily.issuers import Issuer, is_secure

SECONDS = 10.0  # for both requests
MAX_DOCUMENT = 1 << 20
KEY_TYPES = ("RSA", "EC", "OKP")
MIN_RSA_LETTERS = 342  # the modulus of 2,048 bits in base64

log = structlog.get_logger()


async def fetch_keys(client: httpx.AsyncClient, issuer: Issuer) -> KeySet:
    """Raises ProviderUnavailable if the issuer does not respond, or responds with something that cannot be used."""
    try:
        async with asyncio.timeout(SECONDS):
            document = await _json(client, f"{issuer.issuer.rstrip('/')}/.well-known/openid-configuration")
            # A document of another issuer would bring keys that sign for another issuer.
            if document.get("issuer") != issuer.issuer:
                raise ProviderUnavailable(
                    f"The discovery document of {issuer.issuer} names another issuer. Configure the URL that it names."
                )
            address = document.get("jwks_uri")
            if not isinstance(address, str) or not is_secure(address):
                raise ProviderUnavailable(f"The discovery document of {issuer.issuer} has no https:// jwks_uri.")
            return signing_keys(await _json(client, address), issuer)
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise ProviderUnavailable(f"The keys of {issuer.issuer} could not be fetched: {reason}") from error


def signing_keys(document: dict[str, Any], issuer: Issuer) -> KeySet:
    """The keys that can verify signatures. Others are left out: RFC 7517 lets a set contain what we do not know."""
    listed = document.get("keys")
    found = [_signing_key(entry, issuer) for entry in listed] if isinstance(listed, list) else []
    keys = [key for key in found if key is not None]
    if not keys:
        raise ProviderUnavailable(f"The key set of {issuer.issuer} has no key that can verify a signature.")
    return KeySet(keys)


def _signing_key(entry: Any, issuer: Issuer) -> Key | None:
    if not isinstance(entry, dict) or entry.get("kty") not in KEY_TYPES or entry.get("use", "sig") != "sig":
        return None
    if entry["kty"] == "RSA" and len(str(entry.get("n", ""))) < MIN_RSA_LETTERS:
        log.warning("oidc.weak_key", issuer=issuer.issuer, kid=entry.get("kid"))
        return None
    try:
        return JWKRegistry.import_key(entry)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        log.warning("oidc.unreadable_key", issuer=issuer.issuer, kid=entry.get("kid"), reason=repr(error))
        return None


async def _json(client: httpx.AsyncClient, url: str) -> dict[str, Any]:
    async with client.stream("GET", url, headers={"Accept": "application/json"}) as response:
        response.raise_for_status()
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > MAX_DOCUMENT:
                raise ValueError(f"{url} returned more than {MAX_DOCUMENT} bytes")
    document = orjson.loads(body)
    if not isinstance(document, dict):
        raise ValueError(f"{url} did not return a JSON object")  # noqa: TRY004 - what was fetched is wrong, not a type
    return document
