"""Policies: decisions, and why they are what they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from lily.client import parsing
from lily.client.call import Call
from lily.client.encoding import encoded


def check_access(checks: Sequence[Mapping[str, Any]], *, as_of: str | None = None) -> Call[dict[str, Any]]:
    """Decides checks with `principal`, `action` and `asset_id`; returns `decisions`. Needs the scope policy:read."""
    body = {"checks": list(checks)} | ({"as_of": as_of} if as_of else {})
    return Call("POST", "/policy/check", parsing.one(dict), content=encoded(body))


def explain_access(check: Mapping[str, Any], *, as_of: str | None = None) -> Call[dict[str, Any]]:
    """Decides one check and returns every policy that matches, and by what. Needs the scope policy:read."""
    body = dict(check) | ({"as_of": as_of} if as_of else {})
    return Call("POST", "/policy/explain", parsing.one(dict), content=encoded(body))
