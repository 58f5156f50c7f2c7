"""`GET /metadata/{id}` without the framework around it: the same read and the same answer at a fraction of the cost.

Only the plain case is taken: a UUID, a token that is remembered, an asset that PostgreSQL has all of. Everything else
goes the usual way to the route, which knows the lake and has the one implementation of every refusal.
`protocol.py` is where it is used.
"""

import asyncio
import time
from collections.abc import Callable, MutableMapping
from typing import Any, NamedTuple

from lily.api.calls import bearer
from lily.api.http.correlation import correlate
from lily.api.http.request_log import Reporter
from lily.api.services import Parts
from lily.model import ids
from lily.model.access import Principal
from lily.store.assets import StoredAsset

_PREFIX = "/metadata/"
_LENGTH = len(_PREFIX) + 36
_ROUTE = "/metadata/{id}"

Scope = MutableMapping[str, Any]
Found = asyncio.Future[StoredAsset | None]


class Reading(NamedTuple):
    """A read under way."""

    found: Found
    correlation: str
    began: float
    reporter: Reporter

    def report(self) -> None:
        """To be told once it is answered."""
        self.reporter.report("GET", _ROUTE, 200, time.perf_counter() - self.began, self.correlation)


class FastRead:
    def __init__(self, parts: Callable[[], Parts], reporter: Reporter) -> None:
        self._parts = parts
        self._reporter = reporter

    def begin(self, scope: Scope) -> Reading | None:
        """Begins the read if it is a plain one."""
        if not _is_plain(scope):
            return None
        parts = self._parts()
        principal = _remembered(scope, parts)
        if principal is None or not principal.may("metadata:read"):
            return None
        began = time.perf_counter()
        found = parts.reader.find(principal.tenant, scope["path"][len(_PREFIX) :].lower())
        return Reading(found, correlate(scope), began, self._reporter)


def _is_plain(scope: Scope) -> bool:
    path = scope["path"]
    return (
        len(path) == _LENGTH
        and scope["method"] == "GET"
        and not scope["query_string"]
        and path.startswith(_PREFIX)
        and ids.looks_like_uuid(path[len(_PREFIX) :])
    )


def _remembered(scope: Scope, parts: Parts) -> Principal | None:
    for name, value in scope["headers"]:
        if name == b"authorization":
            token = bearer(value.decode("latin-1"))
            return parts.principals.known(token) if token else None
    return None
