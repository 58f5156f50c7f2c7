"""Verifies deliveries as a mapping's signature states."""

import base64
import binascii
import hashlib
from collections.abc import Sequence

from lily.intake.mapped.mapping import Signature
from lily.intake.signatures import Algorithm, from_hex, is_recent, is_secret, is_signed
from lily.plugins import Delivery

HEADER = "x-signature"  # of an HMAC, unless stated
MAX_SIGNATURES = 16  # of one delivery: a sender adds one for each secret while it replaces them
_WHSEC = b"whsec_"
_ALGORITHMS: dict[str, Algorithm] = {"hmac-sha256": hashlib.sha256, "hmac-sha512": hashlib.sha512}


def verified(signature: Signature, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
    if signature.type == "standard-webhooks":
        return _standard(delivery, secrets)
    default = "authorization" if signature.type == "bearer" else HEADER
    given = delivery.headers.get((signature.header or default).lower(), "")
    default_prefix = "Bearer " if signature.type == "bearer" and signature.header is None else ""
    prefix = default_prefix if signature.prefix is None else signature.prefix
    if not given.startswith(prefix):
        given = ""
    given = given.removeprefix(prefix)
    if signature.type == "bearer":
        return is_secret(given, secrets)
    digest = from_hex(given) if signature.encoding != "base64" else _from_base64(given)
    return is_signed(delivery.body, digest, secrets, _ALGORITHMS[signature.type])


def _standard(delivery: Delivery, secrets: Sequence[bytes]) -> bool:
    """Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of id, time and body, for each secret one."""
    headers = delivery.headers
    identity, time = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    content = f"{identity}.{time}.".encode("utf-8", "surrogatepass") + delivery.body
    given = headers.get("webhook-signature", "").split(" ", MAX_SIGNATURES)[:MAX_SIGNATURES]
    digests = [_from_base64(one.removeprefix("v1,")) for one in given if one.startswith("v1,")]
    keys = [_key(secret) for secret in secrets]
    found = [is_signed(content, digest, keys) for digest in digests or [b""]]
    return any(found) and bool(identity) and is_recent(time, delivery.received)


def _key(secret: bytes) -> bytes:
    """A secret as the standard writes it is base64 behind `whsec_`."""
    if not secret.startswith(_WHSEC):
        return secret
    return _from_base64(secret.removeprefix(_WHSEC).decode("utf-8", "replace")) or secret


def _from_base64(given: str) -> bytes:
    try:
        return base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        return b""
