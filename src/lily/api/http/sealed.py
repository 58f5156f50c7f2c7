"""Opaque strings that callers get and send back: cursors, receipts, positions.

Each has a digest of its content and of what it was made for (its purpose, the tenant, the query), so one that is
damaged or used elsewhere is refused. It is not a secret and grants nothing: row-level security applies to what a forged
one reads, as to every other read.
"""

import base64
import binascii
import hashlib
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter

Value = TypeVar("Value")

_DIGEST = 8


def seal(value: Any, *purpose: str) -> str:
    payload = orjson.dumps(value)
    return base64.urlsafe_b64encode(_digest(payload, purpose) + payload).decode().rstrip("=")


def unseal(text: str, shape: TypeAdapter[Value], *purpose: str) -> Value:
    """Raises ValueError for anything that `seal` did not make for the same purpose, or that has another shape."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("not a sealed string") from error
    if raw[:_DIGEST] != _digest(raw[_DIGEST:], purpose):
        raise ValueError("damaged, or sealed for another purpose")
    return shape.validate_json(raw[_DIGEST:], strict=True)


def _digest(payload: bytes, purpose: tuple[str, ...]) -> bytes:
    key = hashlib.sha256("\x00".join(purpose).encode()).digest()
    return hashlib.blake2b(payload, digest_size=_DIGEST, key=key).digest()
