"""The correlation id: a request's own name, from its first header to the change event it causes."""

import itertools
from collections.abc import MutableMapping
from typing import Any

from lily.model import ids

HEADER = b"x-correlation-id"
LONGEST = 64
_KEY = "lily.correlation"

# This process and a number: as unique as a random id for each request, without asking the kernel for one.
_PROCESS = ids.event_id()
_NUMBERS = itertools.count(1)

Scope = MutableMapping[str, Any]


def correlate(scope: Scope) -> str:
    """The id the caller gave, if it is one, else a new one; from here on it is the scope's."""
    given = next((value for name, value in scope["headers"] if name == HEADER), b"")
    scope[_KEY] = given.decode() if _usable(given) else f"{_PROCESS}-{next(_NUMBERS)}"
    return correlation_of(scope)


def correlation_of(scope: Scope) -> str:
    return str(scope[_KEY])


def _usable(given: bytes) -> bool:
    return 0 < len(given) <= LONGEST and given.isascii() and given.decode().isprintable()
