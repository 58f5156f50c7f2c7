"""A call as data: what to send, and how to parse the response. Both clients send the same calls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar
from urllib.parse import quote

import httpx
import orjson

from lily.client.errors import LilyApiError, error_for, unexpected, unreachable, unsendable, untrusted
from lily.client.results import Page

T = TypeVar("T")
CONNECT_SECONDS = 5.0
RESPONSE_SECONDS = 30.0  # in addition to the seconds that the server may wait
JSON, NDJSON = "application/json", "application/x-ndjson"
CREATED = frozenset({201})


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    method: str
    path: str
    parse: Callable[[httpx.Response], T]
    params: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    content_type: str = JSON
    wait: int | None = None
    success: frozenset[int] = frozenset({200, 202})
    retryable: bool = True

    def __post_init__(self) -> None:
        if self.wait is not None and (not isinstance(self.wait, int) or isinstance(self.wait, bool) or self.wait < 0):
            raise TypeError(f"wait must be a whole number of seconds, such as 30, not {self.wait!r}")

    @property
    def headers(self) -> dict[str, str]:
        content_type = {} if self.content is None else {"Content-Type": self.content_type}
        return content_type | ({} if self.wait is None else {"Prefer": f"wait={self.wait}"})


def path(*segments: str) -> str:
    """Each segment is quoted whole, so a name that contains a slash stays one segment."""
    return "".join(f"/{quote(named(segment), safe='')}" for segment in segments)


def named(reference: str) -> str:
    """Raises TypeError for what is no name: a type checker finds it, a notebook has none."""
    if not isinstance(reference, str):
        raise TypeError(f"expected an id or a name, a string, not {reference!r}")
    return reference


def next_page(call: Call[Page[T]], page: Page[T]) -> Call[Page[T]] | None:
    """The call for the page after this one; None if this is the last."""
    return replace(call, params={**call.params, "cursor": page.next_cursor}) if page.next_cursor else None


def request_of(http: httpx.Client | httpx.AsyncClient, call: Call[T]) -> httpx.Request:
    return http.build_request(
        call.method,
        call.path,
        params=dict(call.params) or None,
        content=call.content,
        headers=call.headers,
        timeout=httpx.Timeout(RESPONSE_SECONDS + (call.wait or 0), connect=CONNECT_SECONDS),
    )


def result_of(call: Call[T], response: httpx.Response) -> T:
    """Raises the LilyApiError for an error status."""
    if response.status_code not in call.success:
        raise error_for(response.status_code, response.content, response.headers.get("Retry-After", ""))
    try:
        return call.parse(response)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        what = f"The response to {call.method} {call.path} does not follow the API's contract"
        raise unexpected(response.status_code, what) from error


def failure_of(request: httpx.Request, error: httpx.HTTPError) -> LilyApiError:
    """The error for a request without a complete response. A failed connection may be retried."""
    if isinstance(error, httpx.LocalProtocolError):
        return unsendable()
    if isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol):
        url = str(request.url.copy_with(raw_path=b"/")).rstrip("/")
        return untrusted(url, error) or unreachable(url, error)
    return unexpected(0, f"{request.method} {request.url.path} failed: {error}")
