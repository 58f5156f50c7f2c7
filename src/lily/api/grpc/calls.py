"""A call that came over gRPC: its headers are the metadata of the rpc."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from grpc.aio import ServicerContext

from lily.api.calls import Call
from lily.api.http.server.correlation import HEADER
from lily.api.receipts.receipt import Receipt
from lily.api.receipts.settling import RECEIPT
from lily.model.errors import Problem, Refused

WAIT = "lily-wait"
ANSWERING_SECONDS = 0.5  # what is left of a deadline to say that something is durable, though not yet readable
MOST_DIGITS = 9

Context: TypeAlias = ServicerContext[Any, Any]
Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GrpcCall(Call):
    context: Context
    headers: Headers

    def wait(self) -> int | None:
        """`lily-wait: N`, what `Prefer: wait=N` is to REST; a deadline that comes sooner counts."""
        given = self.headers.get(WAIT)
        if given is None:
            return None
        if not (given.isascii() and given.isdecimal() and len(given) <= MOST_DIGITS):
            raise Refused(Problem("INVALID_VALUE", f"{WAIT} takes whole seconds, such as 5", WAIT))
        wait = min(int(given), self.services.settings.limits.wait_seconds)
        left = self.context.time_remaining()
        return wait if left is None else min(wait, int(max(0.0, left - ANSWERING_SECONDS)))

    def show(self, receipt: Receipt) -> None:
        """The receipt of a write goes to the trailing metadata; `GET /propagations/{id}` tells what became of it."""
        told = ((HEADER.decode(), self.correlation), (RECEIPT.lower(), receipt.seal(self.tenant)))
        self.context.set_trailing_metadata(told)


def headers_of(context: Context) -> Headers:
    """Text only: a `-bin` value is nothing that a call reads. Of a name that comes twice, the first counts."""
    headers: dict[str, str] = {}
    for name, value in context.invocation_metadata() or ():
        if isinstance(value, str):
            headers.setdefault(name, value)
    return headers
