"""Running Lily: health, dead letters, and the tenant's settings."""

from collections.abc import Mapping, Sequence
from typing import Any

from lily.client import parsing
from lily.client.call import Call
from lily.client.encoding import encoded
from lily.client.results import DeadLetter, Health, Page, Replayed


def health() -> Call[Health]:
    """Returns whether the API is ready. Not retried: raises Unavailable at once if there is no response."""
    return Call("GET", "/health/ready", parsing.health, success=frozenset({200, 503}), retryable=False)


def dead_letters(*, page_size: int = 100) -> Call[Page[DeadLetter]]:
    """Iterates over the events that the pipeline refused, newest first, with the reasons."""
    return Call("GET", "/dead-letters", parsing.page_of(parsing.dead_letter), {"limit": str(page_size)})


def replay(letters: Sequence[int] | None = None) -> Call[Replayed]:
    """Sends dead letters through the pipeline again: those named, or all that were never replayed."""
    body = {"all": True} if letters is None else {"ids": list(letters)}
    return Call("POST", "/dead-letters/replay", parsing.one(parsing.record(Replayed)), content=encoded(body))


def settings() -> Call[dict[str, Any]]:
    """Returns the tenant's settings."""
    return Call("GET", "/settings", parsing.one(dict))


def decide(changes: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Changes the tenant's settings and returns them. Needs the scope policy:write."""
    return Call("PUT", "/settings", parsing.one(dict), content=encoded(changes))
