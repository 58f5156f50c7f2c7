"""A call: one request with who makes it and what serves it. Every route but the public ones takes one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from lily.api.correlation import correlation_of
from lily.api.errors import forbidden, unauthenticated
from lily.api.parts import Parts
from lily.model.access import Principal, Scope

_BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class Call:
    request: Request
    parts: Parts
    principal: Principal

    @property
    def tenant(self) -> str:
        return self.principal.tenant

    @property
    def correlation(self) -> str:
        return correlation_of(self.request.scope)

    def require(self, scope: Scope, why: str, entity: str) -> None:
        if not self.principal.may(scope):
            raise forbidden(f"{why} needs the scope {scope}", entity)


def bearer(authorization: str) -> str | None:
    """The token of an Authorization header; None where there is none."""
    return authorization[len(_BEARER) :].strip() or None if authorization[: len(_BEARER)].lower() == _BEARER else None


def parts_of(request: Request) -> Parts:
    return cast("Parts", request.app.parts)


async def authenticated(request: Request) -> Call:
    parts = parts_of(request)
    token = bearer(request.headers.get("authorization", ""))
    principal = await parts.principals.of(token) if token else None
    if principal is None:
        raise unauthenticated()
    return Call(request, parts, principal)


def allowed(scope: Scope) -> Callable[[Call], Awaitable[Call]]:
    async def check(call: Annotated[Call, Depends(authenticated)]) -> Call:
        call.require(scope, "this call", call.request.url.path)
        return call

    return check


Anyone = Annotated[Call, Depends(authenticated)]
Reads = Annotated[Call, Depends(allowed("metadata:read"))]
Writes = Annotated[Call, Depends(allowed("metadata:write"))]
ReadsLineage = Annotated[Call, Depends(allowed("lineage:read"))]
WritesLineage = Annotated[Call, Depends(allowed("lineage:write"))]
Measures = Annotated[Call, Depends(allowed("metrics:read"))]
