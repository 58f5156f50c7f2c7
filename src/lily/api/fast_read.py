"""`GET /metadata/{id}` without the framework around it: the same read and the same answer at a fraction of the cost.

Only the plain case is answered here: a UUID, a token that is remembered, an asset that exists. Everything else goes
on to the route, which has the one implementation of every refusal.
"""

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from lily.api.calls import bearer
from lily.api.parts import Parts
from lily.model import ids
from lily.model.access import Principal

_PREFIX = "/metadata/"
_LENGTH = len(_PREFIX) + 36
_ROUTE = "/metadata/{id}"


class FastRead:
    def __init__(self, app: ASGIApp, parts: Callable[[], Parts]) -> None:
        self._app = app
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _is_plain(scope):
            parts = self._parts()
            principal = _remembered(scope, parts)
            if principal is not None and principal.may("metadata:read"):
                asset = await parts.reader.find(principal.tenant, scope["path"][len(_PREFIX) :].lower())
                if asset is not None:
                    scope["route"] = _ROUTE
                    await _send_json(send, asset.json)
                    return
        await self._app(scope, receive, send)


def _is_plain(scope: Scope) -> bool:
    path = scope.get("path", "")
    return (
        scope["type"] == "http"
        and len(path) == _LENGTH
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


async def _send_json(send: Send, body: bytes) -> None:
    headers = [(b"content-length", str(len(body)).encode()), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
