"""A call as data: what is sent, and how its answer is read. Both clients send the same calls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import httpx
import orjson

from lily.client.answers import Page
from lily.client.errors import LilyApiError, error_for, unexpected, unreachable

T = TypeVar("T")
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0  # beyond what the caller asked the server to wait


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    method: str
    path: str
    read: Callable[[httpx.Response], T]
    params: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    accepts: frozenset[int] = frozenset({200, 202})
    repeatable: bool = True


def after(call: Call[Page[T]], page: Page[T]) -> Call[Page[T]] | None:
    """The call for the next page; None where this was the last."""
    return replace(call, params={**call.params, "cursor": page.next_cursor}) if page.next_cursor else None


def request_of(http: httpx.Client | httpx.AsyncClient, call: Call[T]) -> httpx.Request:
    return http.build_request(
        call.method,
        call.path,
        params=dict(call.params) or None,
        content=call.content,
        headers=dict(call.headers),
        timeout=httpx.Timeout(ANSWER_SECONDS + call.wait, connect=CONNECT_SECONDS),
    )


def result_of(call: Call[T], answer: httpx.Response) -> T:
    """Raises the LilyApiError that the answer amounts to."""
    if answer.status_code not in call.accepts:
        raise error_for(answer.status_code, answer.content, answer.headers.get("Retry-After", ""))
    try:
        return call.read(answer)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        what = f"{call.method} {call.path} was not answered as the contract says"
        raise unexpected(answer.status_code, what) from error


def failure_of(request: httpx.Request, error: httpx.HTTPError) -> LilyApiError:
    """An exchange that broke off: mostly the connection, which may be tried again."""
    if isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol):
        return unreachable(str(request.url.copy_with(raw_path=b"/")).rstrip("/"), error)
    return unexpected(0, f"{request.method} {request.url.path}: {error}")
