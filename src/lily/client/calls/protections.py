"""What ended without authority and still conducts protective tags."""

from collections.abc import Sequence
from typing import Any

from lily.client import parsing
from lily.client.call import Call, path
from lily.client.encoding import encoded
from lily.client.results import Page

_PENDING = ("protections", "pending")


def pending_protections(*, page_size: int = 50) -> Call[Page[dict[str, Any]]]:
    """Iterates over what still conducts protective tags only because its end was not confirmed: who ended it and when,
    and which assets keep which tags because of it. Needs the scope policy:read."""
    return Call("GET", path(*_PENDING), parsing.page_of(dict), {"limit": str(page_size)})


def confirm_protection(item_id: str, *, wait: int | None = None) -> Call[dict[str, Any]]:
    """Confirms that an item has ended: it no longer conducts. Needs the scope policy:write."""
    return Call("POST", path(*_PENDING, item_id, "confirm"), parsing.one(dict), wait=wait)


def confirm_protections(item_ids: Sequence[str], *, wait: int | None = None) -> Call[dict[str, Any]]:
    """Confirms many items, at most 1,000, and returns the outcome of each. Needs the scope policy:write."""
    body = encoded({"ids": list(item_ids)})
    return Call("POST", path(*_PENDING, "confirm"), parsing.one(dict), content=body, wait=wait)


def undo_protection(item_id: str, *, wait: int | None = None) -> Call[dict[str, Any]]:
    """Undoes the end of an item: it is stated again in the user layer. Needs the scope policy:write."""
    return Call("POST", path(*_PENDING, item_id, "undo"), parsing.one(dict), wait=wait)
