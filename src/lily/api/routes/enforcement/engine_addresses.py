"""Addresses that engines call: each exists twice, because some engines cannot send a header."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter


def add_addresses(
    router: APIRouter,
    start: str,
    path: str,
    with_header: Callable[..., Any],
    with_key: Callable[..., Any],
    **documented: Any,
) -> None:
    """With a token in the header below `start`, with an engine key in the path below `start/k/{key}`."""
    for prefix, handler in ((start, with_header), (f"{start}/k/{{key}}", with_key)):
        router.add_api_route(f"{prefix}/{path}", handler, **documented)
