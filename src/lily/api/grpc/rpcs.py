"""What surrounds every rpc: a correlation id, a token, a line in the log, a measurement, a span, and an answer."""

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

from lily.api.calls import identified
from lily.api.grpc.calls import Context, GrpcCall, Headers, headers_of
from lily.api.grpc.failures import Failure, failure_for
from lily.api.http.server.correlation import HEADER, correlate
from lily.api.http.server.request_log import RequestLog
from lily.api.services import Services
from lily.model.access import Scope
from lily.model.errors import LilyError, Problem, Refused
from lily.observe import traces

METHOD = "gRPC"  # where REST has GET and POST

Asked = TypeVar("Asked", bound=Message)
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Rpc(Generic[Asked]):
    """One rpc of a service: the scope it needs, what it takes, and what answers it."""

    scope: Scope
    asked: type[Asked]
    answer: Callable[[GrpcCall, Asked], Awaitable[Message]]

    def read(self, raw: bytes) -> Asked:
        # Here and not by gRPC, which answers what it cannot read as if we had failed.
        try:
            return self.asked.FromString(raw)
        except DecodeError as error:
            raise Refused(Problem("MALFORMED_MESSAGE", f"this is no {self.asked.DESCRIPTOR.full_name}")) from error


class Rpcs:
    """Makes the rpcs of a service into what gRPC serves."""

    def __init__(self, services: Services, request_log: RequestLog) -> None:
        self._services = services
        self._reporter = request_log

    def handler(self, service: str, rpcs: Mapping[str, Rpc[Any]]) -> GenericRpcHandler:
        handlers: dict[str, RpcMethodHandler[Any, Any]] = {
            name: unary_unary_rpc_method_handler(self._handling(f"{service}/{name}", rpc)) for name, rpc in rpcs.items()
        }
        return method_handlers_generic_handler(service, handlers)

    def _handling(self, route: str, rpc: Rpc[Any]) -> Callable[[bytes, Context], Awaitable[bytes]]:
        async def handle(raw: bytes, context: Context) -> bytes:
            began, headers = time.perf_counter(), headers_of(context)
            correlation = correlate({"headers": [(name.encode(), value.encode()) for name, value in headers.items()]})
            structlog.contextvars.bind_contextvars(correlation=correlation)
            told = ((HEADER.decode(), correlation),)
            context.set_trailing_metadata(told)
            code = StatusCode.CANCELLED  # gRPC cancels us when the caller hangs up and when its deadline has passed
            try:
                answer = await self._answered(route, rpc, raw, _Arrived(context, headers, correlation))
                code = answer.code if isinstance(answer, Failure) else StatusCode.OK
            finally:
                self._reporter.report(METHOD, route, code.name, time.perf_counter() - began, correlation)
            if isinstance(answer, Failure):
                await context.abort(code, answer.message, (*told, *answer.trailing))
            return answer.SerializeToString()

        return handle

    async def _answered(self, route: str, rpc: Rpc[Any], raw: bytes, arrived: "_Arrived") -> Message | Failure:
        parent = traces.context_of(arrived.headers.get("traceparent", ""))
        with traces.tracer.start_as_current_span(route, parent, SpanKind.SERVER) as span:
            span.set_attribute("lily.correlation", arrived.correlation)
            try:
                call = await self._identified(arrived)
                call.require(rpc.scope, "this call", route)
                return await rpc.answer(call, rpc.read(raw))
            except LilyError as error:
                return failure_for(error, arrived.correlation)
            except Exception as error:
                log.exception("request.failed", method=METHOD, route=route)
                return failure_for(error, arrived.correlation)

    async def _identified(self, arrived: "_Arrived") -> GrpcCall:
        principal = await identified(self._services, arrived.headers.get("authorization", ""))
        return GrpcCall(self._services, principal, arrived.correlation, arrived.context, arrived.headers)


class _Arrived(NamedTuple):
    """A call of which nobody knows yet who makes it."""

    context: Context
    headers: Headers
    correlation: str
