"""How other systems sign what they send. Every secret is tried, and compared in constant time, so that the time a
refusal takes reveals nothing of the secrets."""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from typing import Any

from lily.model import clock

WINDOW_SECONDS = 300  # how far the time in a signature may be from Lily's clock: what is older may be a replay
_MAX_TIME_DIGITS = 12

Algorithm = Callable[..., Any]


def is_signed(content: bytes, digest: bytes, secrets: Sequence[bytes], algorithm: Algorithm = hashlib.sha256) -> bool:
    """Whether one of the secrets made the digest of the content."""
    found = [hmac.compare_digest(hmac.new(secret, content, algorithm).digest(), digest) for secret in secrets]
    return any(found)


def is_secret(given: str, secrets: Sequence[bytes]) -> bool:
    """Whether it is one of the secrets. Their digests are compared, because a comparison of texts reveals lengths."""
    shown = _digest(given.encode("utf-8", "surrogatepass"))
    found = [hmac.compare_digest(_digest(secret), shown) for secret in secrets]
    return any(found)


def from_hex(given: str) -> bytes:
    """Empty for what is not hexadecimal, which is the digest of nothing."""
    try:
        return bytes.fromhex(given) if given.isascii() and given.isalnum() else b""
    except ValueError:
        return b""


def is_recent(seconds: str, received: str) -> bool:
    """Whether a time in seconds since the epoch is close to Lily's clock."""
    if not seconds.isascii() or not seconds.isdecimal() or len(seconds) > _MAX_TIME_DIGITS:
        return False
    return abs(clock.parse(received).timestamp() - int(seconds)) <= WINDOW_SECONDS


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
