"""Running Lily: health, dead letters, the audit, and the tenant's settings."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from lily.client import parsing
from lily.client.call import Call
from lily.client.encoding import encoded, stamped
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


def audit(
    *,
    actor: str | None = None,
    action: str | None = None,
    subject: str | None = None,
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    page_size: int = 100,
) -> Call[Page[dict[str, Any]]]:
    """Iterates over the audit, newest first: who did what, when and from where. Needs the scope admin."""
    times = {name: stamped(time) for name, time in (("since", since), ("until", until)) if time is not None}
    given = {"actor": actor, "action": action, "subject": subject}
    filters = {name: value for name, value in given.items() if value is not None}
    return Call("GET", "/audit", parsing.page_of(dict), {"limit": str(page_size), **filters, **times})


def settings() -> Call[dict[str, Any]]:
    """Returns the tenant's settings."""
    return Call("GET", "/settings", parsing.one(dict))


def decide(changes: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Changes the tenant's settings and returns them. Needs the scope policy:write."""
    return Call("PUT", "/settings", parsing.one(dict), content=encoded(changes))
