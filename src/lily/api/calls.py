"""A call: its principal and the services it uses. Every route but the public ones takes one, and so does every RPC."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, cast

from fastapi import Depends, Request
from starlette.requests import HTTPConnection

from lily.api.http.errors import Declined, forbidden, unauthenticated
from lily.api.http.prefer import wait_of
from lily.api.http.query import refuse_unknown_parameters
from lily.api.http.server.correlation import correlation_of
from lily.api.services import Services
from lily.model.access import Principal, Scope
from lily.store.postgres.audit.entries import AuditEntry, record
from lily.store.postgres.audit.origin import ORIGIN, Origin

_BEARER = "bearer "
_CALL = "lily.call"
FORBIDDEN = 403
# What administrators do needs one of these. Other calls do not pay for stating where they come from.
_ADMINISTRATIVE: frozenset[Scope] = frozenset({"policy:write", "notifications:manage", "admin"})


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
        """Raises Declined with 403. What a call changes after it required the scope of an administrator is audited with
        where it comes from."""
        if not self.principal.may(scope):
            raise forbidden(f"{why} needs the scope {scope}", entity)
        if scope in _ADMINISTRATIVE:
            ORIGIN.set(self.origin)

    @property
    def origin(self) -> Origin:
        return Origin(self.principal.token_id, self.address, self.correlation)

    async def record(self, action: str, subject: str, detail: dict[str, Any]) -> None:
        """Audits an administrative act that is not a change in PostgreSQL, which audits itself. Call it before the act,
        so that nothing happens without an entry. Raises StoreUnavailable."""
        ORIGIN.set(self.origin)
        entry = AuditEntry(self.tenant, self.principal.name, action, subject, detail)
        await record(self.services.database, entry)

    async def record_refusal(self, operation: str, error: Exception) -> None:
        """Audits an error that refuses the operation for lack of authority; any other is none of its business."""
        if isinstance(error, Declined) and error.status == FORBIDDEN:
            await self.services.refusals.record(self.principal, self.origin, operation, error.problems[0])

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
        return address_of(self.request)

    def wait(self) -> int | None:
        return wait_of(self.request.headers, self.services.settings.limits.wait_seconds)


def bearer(authorization: str) -> str | None:
    """The token of an Authorization header; None if it has none."""
    return authorization[len(_BEARER) :].strip() or None if authorization[: len(_BEARER)].lower() == _BEARER else None


def address_of(connection: HTTPConnection) -> str | None:
    """The caller's IP address; None if it is not known."""
    return connection.client.host if connection.client else None


def services_of(request: Request) -> Services:
    return cast("Services", request.app.services)


async def authenticate(services: Services, authorization: str, address: str | None) -> Principal:
    """Raises Declined with 401 unless the token is valid, with 429 if too many of the address were not."""
    token = bearer(authorization)
    principal = await services.principals.of(token, address) if token else None
    if principal is None:
        raise unauthenticated()
    return principal


async def authenticated(request: Request) -> HttpCall:
    services = services_of(request)
    principal = await authenticate(services, request.headers.get("authorization", ""), address_of(request))
    services.quotas.count(principal)
    call = begun(request, principal)
    refuse_unknown_parameters(request)
    return call


def begun(request: Request, principal: Principal) -> HttpCall:
    """The call of an authenticated request, which `call_of` finds again if it is refused."""
    call = HttpCall(services_of(request), principal, correlation_of(request.scope), request)
    request.scope[_CALL] = call
    return call


def call_of(request: Request) -> HttpCall | None:
    """None if the request was not authenticated."""
    return request.scope.get(_CALL)


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
Replays = Annotated[HttpCall, Depends(allowed("metadata:write", "lineage:write"))]
ReadsLineage = Annotated[HttpCall, Depends(allowed("lineage:read"))]
WritesLineage = Annotated[HttpCall, Depends(allowed("lineage:write"))]
Enforces = Annotated[HttpCall, Depends(allowed("enforce:read"))]
ManagesNotifications = Annotated[HttpCall, Depends(allowed("notifications:manage"))]
ReadsNotifications = Annotated[HttpCall, Depends(allowed("metadata:read", "incidents:read"))]
Acknowledges = Annotated[HttpCall, Depends(allowed("incidents:write", "notifications:manage"))]
Administers = Annotated[HttpCall, Depends(allowed("admin"))]
Measures = Annotated[HttpCall, Depends(allowed("metrics:read"))]
