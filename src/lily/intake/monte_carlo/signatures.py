"""The signature of a Monte Carlo webhook: `x-mcd-signature`, the hex HMAC-SHA512 with the shared secret.

The vendor signs the decoded body as `urllib.parse.urlencode` writes it, where nested values become Python's own
notation. A signature of the body as it came is accepted too.
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from urllib.parse import urlencode

HEADER = "x-mcd-signature"
_DIGITS = 128


def is_signed(body: bytes, signature: str, secrets: Sequence[bytes]) -> bool:
    """Whether one of the secrets made the signature. Every form is computed with every secret, so the time tells
    nothing of which one it was."""
    given = signature.strip().lower()
    if len(given) != _DIGITS or not given.isascii():
        return False
    signed = [form for form in (body, url_encoded(body)) if form is not None]
    found = [hmac.compare_digest(_signature(secret, form), given) for secret in secrets for form in signed]
    return any(found)


def url_encoded(body: bytes) -> bytes | None:
    """The form that the vendor signs. None if the body has none: it is not a JSON object."""
    try:
        # The standard library's reader: the form depends on how Python writes the values that it makes.
        decoded = json.loads(body)
        return urlencode(decoded).encode() if isinstance(decoded, dict) else None
    except (ValueError, RecursionError):
        return None


def _signature(secret: bytes, content: bytes) -> str:
    return hmac.new(secret, content, hashlib.sha512).hexdigest()
