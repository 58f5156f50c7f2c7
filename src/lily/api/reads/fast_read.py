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
from lily.api.http.request_log import RequestLog
from lily.api.services import Services
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
    request_log: RequestLog

    def report(self) -> None:
        """To be told once it is answered."""
        self.request_log.report("GET", _ROUTE, 200, time.perf_counter() - self.began, self.correlation)


class FastRead:
    def __init__(self, services: Callable[[], Services], request_log: RequestLog) -> None:
        self._services = services
        self._reporter = request_log

    def begin(self, scope: Scope) -> Reading | None:
        """Begins the read if it is a plain one."""
        if not _is_plain(scope):
            return None
        services = self._services()
        principal = _remembered(scope, services)
        if principal is None or not principal.may("metadata:read"):
            return None
        began = time.perf_counter()
        found = services.reader.find(principal.tenant, scope["path"][len(_PREFIX) :].lower())
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


def _remembered(scope: Scope, services: Services) -> Principal | None:
    for name, value in scope["headers"]:
        if name == b"authorization":
            token = bearer(value.decode("latin-1"))
            return services.principals.known(token) if token else None
    return None
