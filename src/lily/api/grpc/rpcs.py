"""Handles every RPC: correlation id, authentication, request log, metrics, span, and the response or its status."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import structlog
from google.protobuf.message import DecodeError, Message
from grpc import (
    GenericRpcHandler,
    RpcMethodHandler,
    StatusCode,
    method_handlers_generic_handler,
    unary_unary_rpc_method_handler,
)
from opentelemetry.trace import SpanKind

from lily.api.calls import authenticate
from lily.api.grpc.calls import Context, GrpcCall, Headers, address_of, headers_of
from lily.api.grpc.failures import Failure, failure_for
from lily.api.http.server.correlation import HEADER, correlate
from lily.api.http.server.request_log import RequestLog
from lily.api.services import Services
from lily.model.access import Scope
from lily.model.errors import LilyError, Problem, Refused
from lily.observe import traces

METHOD = "gRPC"  # in the place of an HTTP method, in the log and in metrics

Request = TypeVar("Request", bound=Message)
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Rpc(Generic[Request]):
    """One RPC of a service: the scope it needs, the type of its request, and the function that handles it."""

    scope: Scope
    request: type[Request]
    handle: Callable[[GrpcCall, Request], Awaitable[Message]]

    def parse(self, raw: bytes) -> Request:
        # Not left to gRPC, which reports a malformed request as an internal error of the server.
        try:
            return self.request.FromString(raw)
        except DecodeError as error:
            name = self.request.DESCRIPTOR.full_name
            raise Refused(Problem("MALFORMED_MESSAGE", f"the body is not a valid {name} message")) from error


class Rpcs:
    """Builds the handler that gRPC serves from the RPCs of a service."""

    def __init__(self, services: Services, request_log: RequestLog) -> None:
        self._services = services
        self._request_log = request_log

    def handler(self, service: str, rpcs: Mapping[str, Rpc[Any]]) -> GenericRpcHandler:
        handlers: dict[str, RpcMethodHandler[Any, Any]] = {
            name: unary_unary_rpc_method_handler(self._handler(f"{service}/{name}", rpc)) for name, rpc in rpcs.items()
        }
        return method_handlers_generic_handler(service, handlers)

    def _handler(self, route: str, rpc: Rpc[Any]) -> Callable[[bytes, Context], Awaitable[bytes]]:
        async def handle(raw: bytes, context: Context) -> bytes:
            began, headers = time.perf_counter(), headers_of(context)
            correlation = correlate({"headers": [(name.encode(), value.encode()) for name, value in headers.items()]})
            structlog.contextvars.bind_contextvars(correlation=correlation)
            metadata = ((HEADER.decode(), correlation),)
            context.set_trailing_metadata(metadata)
            code = StatusCode.CANCELLED  # gRPC cancels this if the caller disconnects or its deadline passes
            try:
                response = await self._respond(route, rpc, raw, _Unauthenticated(context, headers, correlation))
                code = response.code if isinstance(response, Failure) else StatusCode.OK
            finally:
                self._request_log.report(METHOD, route, code.name, time.perf_counter() - began, correlation)
            if isinstance(response, Failure):
                await context.abort(code, response.message, (*metadata, *response.trailing))
            return response.SerializeToString()

        return handle

    async def _respond(self, route: str, rpc: Rpc[Any], raw: bytes, incoming: "_Unauthenticated") -> Message | Failure:
        parent = traces.context_of(incoming.headers.get("traceparent", ""))
        with traces.tracer.start_as_current_span(route, parent, SpanKind.SERVER) as span:
            span.set_attribute("lily.correlation", incoming.correlation)
            call = None
            try:
                call = await self._authenticated(incoming)
                call.require(rpc.scope, "this call", route)
                return await rpc.handle(call, rpc.parse(raw))
            except LilyError as error:
                if call is not None:
                    await call.record_refusal(f"{METHOD} {route}", error)
                return failure_for(error, incoming.correlation)
            except Exception as error:
                log.exception("request.failed", method=METHOD, route=route)
                return failure_for(error, incoming.correlation)

    async def _authenticated(self, incoming: "_Unauthenticated") -> GrpcCall:
        principal = await authenticate(
            self._services, incoming.headers.get("authorization", ""), address_of(incoming.context)
        )
        self._services.quotas.count(principal)
        return GrpcCall(self._services, principal, incoming.correlation, incoming.context, incoming.headers)


class _Unauthenticated(NamedTuple):
    """A call before its token was checked."""

    context: Context
    headers: Headers
    correlation: str
