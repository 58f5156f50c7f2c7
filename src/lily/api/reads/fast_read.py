"""`GET /metadata/{id}` in front of the framework: the same read and the same response at a fraction of the cost.

It handles only the common case: a UUID, a cached token to which no policy denies reading, and an asset that PostgreSQL
has in full. Everything else is passed to the route, which also asks the policies, reads the lake and reports errors.
"""

import asyncio
import time
from collections.abc import Callable, MutableMapping
from typing import Any, NamedTuple

from starlette.types import Send

from lily.api.auth.restrictions import reads_everything
from lily.api.calls import bearer
from lily.api.http.server.correlation import HEADER, correlate
from lily.api.http.server.request_log import RequestLog
from lily.api.http.server.safe_headers import SAFE_HEADERS
from lily.api.services import Services
from lily.model import ids
from lily.model.access import Principal
from lily.store.assets import StoredAsset

_PREFIX = "/metadata/"
_LENGTH = len(_PREFIX) + 36
_ROUTE = "/metadata/{id}"
_HEADERS = ((b"content-type", b"application/json"), *SAFE_HEADERS)

Scope = MutableMapping[str, Any]
AssetFuture = asyncio.Future[StoredAsset | None]


class Reading(NamedTuple):
    """A read in progress."""

    asset: AssetFuture
    correlation: str
    began: float
    request_log: RequestLog

    async def respond(self, send: Send) -> bool:
        """Sends the asset. False if PostgreSQL does not have all of it, or failed: then nothing was sent."""
        try:
            asset = await self.asset
            body = asset.json if asset and not asset.awaits_lake else None
        except Exception:  # noqa: BLE001 - the route reads once more, and reports the error if there still is one
            return False
        if body is None:
            return False
        length = (b"content-length", b"%d" % len(body))
        headers = [length, *_HEADERS, (HEADER, self.correlation.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        self.report()
        return True

    def report(self) -> None:
        """Logs and measures the request; call it once the response is sent."""
        self.request_log.report("GET", _ROUTE, 200, time.perf_counter() - self.began, self.correlation)


class FastRead:
    def __init__(self, services: Callable[[], Services], request_log: RequestLog) -> None:
        self._services = services
        self._request_log = request_log

    def begin(self, scope: Scope) -> Reading | None:
        """Starts the read; None if the request is not a plain read."""
        if not _is_plain(scope):
            return None
        services = self._services()
        principal = _cached_principal(scope, services)
        if principal is None or not principal.may("metadata:read") or not reads_everything(services, principal):
            return None
        if not services.quotas.admits(principal.tenant):
            return None
        began = time.perf_counter()
        asset = services.reader.find(principal.tenant, scope["path"][len(_PREFIX) :].lower())
        return Reading(asset, correlate(scope), began, self._request_log)


def _is_plain(scope: Scope) -> bool:
    return (
        scope["type"] == "http"
        and len(path := scope["path"]) == _LENGTH
        and scope["method"] == "GET"
        and not scope["query_string"]
        and path.startswith(_PREFIX)
        and ids.looks_like_uuid(path[len(_PREFIX) :])
    )


def _cached_principal(scope: Scope, services: Services) -> Principal | None:
    for name, value in scope["headers"]:
        if name == b"authorization":
            token = bearer(value.decode("latin-1"))
            return services.principals.cached(token) if token else None
    return None
