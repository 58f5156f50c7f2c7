"""A call: its principal and the services it uses. Every route but the public ones takes one, and so does every RPC."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from lily.api.http.errors import forbidden, unauthenticated
from lily.api.http.prefer import wait_of
from lily.api.http.query import refuse_unknown_parameters
from lily.api.http.server.correlation import correlation_of
from lily.api.services import Services
from lily.model.access import Principal, Scope

_BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class Call(ABC):
    """A call over REST or gRPC."""

    services: Services
    principal: Principal
    correlation: str

    @property
    def tenant(self) -> str:
        return self.principal.tenant

    def require(self, scope: Scope, why: str, entity: str) -> None:
        if not self.principal.may(scope):
            raise forbidden(f"{why} needs the scope {scope}", entity)

    @property
    @abstractmethod
    def address(self) -> str | None:
        """The caller's IP address, which conditions of policies compare; None if it is not known."""

    @abstractmethod
    def wait(self) -> int | None:
        """The number of seconds that the caller prefers to wait until its write can be read; None if it does not wait.
        Raises Refused if the preference is not a number."""


@dataclass(frozen=True, slots=True)
class HttpCall(Call):
    request: Request

    @property
    def address(self) -> str | None:
        return self.request.client.host if self.request.client else None

    def wait(self) -> int | None:
        return wait_of(self.request.headers, self.services.settings.limits.wait_seconds)


def bearer(authorization: str) -> str | None:
    """The token of an Authorization header; None if it has none."""
    return authorization[len(_BEARER) :].strip() or None if authorization[: len(_BEARER)].lower() == _BEARER else None


def services_of(request: Request) -> Services:
    return cast("Services", request.app.services)


async def authenticate(services: Services, authorization: str) -> Principal:
    """Raises Declined with 401 unless the token is valid."""
    token = bearer(authorization)
    principal = await services.principals.of(token) if token else None
    if principal is None:
        raise unauthenticated()
    return principal


async def authenticated(request: Request) -> HttpCall:
    services = services_of(request)
    principal = await authenticate(services, request.headers.get("authorization", ""))
    refuse_unknown_parameters(request)
    return HttpCall(services, principal, correlation_of(request.scope), request)


def allowed(scope: Scope, *others: Scope) -> Callable[[HttpCall], Awaitable[HttpCall]]:
    """A dependency of a route: the caller needs the scope, or one of the others instead."""

    async def check(call: Annotated[HttpCall, Depends(authenticated)]) -> HttpCall:
        if not any(call.principal.may(other) for other in others):
            call.require(scope, "this call", call.request.url.path)
        return call

    return check


Anyone = Annotated[HttpCall, Depends(authenticated)]
Reads = Annotated[HttpCall, Depends(allowed("metadata:read"))]
Writes = Annotated[HttpCall, Depends(allowed("metadata:write"))]
ReadsLineage = Annotated[HttpCall, Depends(allowed("lineage:read"))]
WritesLineage = Annotated[HttpCall, Depends(allowed("lineage:write"))]
Enforces = Annotated[HttpCall, Depends(allowed("enforce:read"))]
ManagesNotifications = Annotated[HttpCall, Depends(allowed("notifications:manage"))]
ReadsNotifications = Annotated[HttpCall, Depends(allowed("metadata:read", "incidents:read"))]
Acknowledges = Annotated[HttpCall, Depends(allowed("incidents:write", "notifications:manage"))]
Measures = Annotated[HttpCall, Depends(allowed("metrics:read"))]
