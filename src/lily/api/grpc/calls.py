"""A call over gRPC. Its headers are the metadata of the RPC."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote

from grpc.aio import ServicerContext

from lily.api.calls import Call
from lily.api.http.server.correlation import HEADER
from lily.api.receipts.receipt import Receipt
from lily.api.receipts.settling import RECEIPT
from lily.model.errors import Problem, Refused

WAIT = "lily-wait"
RESPONSE_SECONDS = 0.5  # kept of a deadline, to respond in time that a write is durable but not yet readable
MAX_DIGITS = 9

Context: TypeAlias = ServicerContext[Any, Any]
Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GrpcCall(Call):
    context: Context
    headers: Headers

    @property
    def address(self) -> str | None:
        return address_of(self.context)

    def wait(self) -> int | None:
        """The seconds of `lily-wait: N`, gRPC's counterpart of `Prefer: wait=N`; fewer if the deadline is sooner."""
        given = self.headers.get(WAIT)
        if given is None:
            return None
        if not (given.isascii() and given.isdecimal() and len(given) <= MAX_DIGITS):
            raise Refused(Problem("INVALID_VALUE", f"{WAIT} must be whole seconds, such as 5", WAIT))
        wait = min(int(given), self.services.settings.limits.wait_seconds)
        left = self.context.time_remaining()
        return wait if left is None else min(wait, int(max(0.0, left - RESPONSE_SECONDS)))

    def send_receipt(self, receipt: Receipt) -> None:
        """Adds the receipt of a write to the trailing metadata. `GET /propagations/{id}` returns the write's state."""
        metadata = ((HEADER.decode(), self.correlation), (RECEIPT.lower(), receipt.seal(self.tenant)))
        self.context.set_trailing_metadata(metadata)


def address_of(context: Context) -> str | None:
    """gRPC writes the peer as `ipv4:127.0.0.1:50051` or `ipv6:%5B::1%5D:50051`."""
    kind, _, rest = unquote(str(context.peer())).partition(":")
    return rest.rpartition(":")[0].strip("[]") or None if kind in {"ipv4", "ipv6"} else None


def headers_of(context: Context) -> Headers:
    """Text values only, because no call reads a `-bin` value. If a name is repeated, the first value counts."""
    headers: dict[str, str] = {}
    for name, value in context.invocation_metadata() or ():
        if isinstance(value, str):
            headers.setdefault(name, value)
    return headers
