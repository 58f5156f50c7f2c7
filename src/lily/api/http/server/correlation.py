"""The correlation id: identifies a request from its headers to the change events it causes."""

import itertools
from collections.abc import MutableMapping
from typing import Any

from lily.model import ids

HEADER = b"x-correlation-id"
MAX_LENGTH = 64
_KEY = "lily.correlation"

# An id of this process and a number: as unique as a random id per request, and cheaper.
_PROCESS = ids.event_id()
_NUMBERS = itertools.count(1)

Scope = MutableMapping[str, Any]


def correlate(scope: Scope) -> str:
    """The caller's id if it sent a valid one, else a new one; stored in the scope."""
    given = next((value for name, value in scope["headers"] if name == HEADER), b"")
    scope[_KEY] = given.decode() if _usable(given) else f"{_PROCESS}-{next(_NUMBERS)}"
    return correlation_of(scope)


def correlation_of(scope: Scope) -> str:
    return str(scope[_KEY])


def _usable(given: bytes) -> bool:
    return 0 < len(given) <= MAX_LENGTH and given.isascii() and given.decode().isprintable()
