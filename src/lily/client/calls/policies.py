"""Policies: their administration, decisions, and why these are what they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from lily.client import parsing
from lily.client.call import CREATED, Call, path
from lily.client.encoding import encoded


def create_policy(policy: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Creates a policy and returns it, with its id. Needs the scope policy:write."""
    return Call("POST", "/policies", parsing.one(dict), content=encoded(dict(policy)), success=CREATED)


def delete_policy(policy_id: str) -> Call[None]:
    """Deletes a policy. Needs the scope policy:write."""
    return Call("DELETE", path("policies", policy_id), parsing.nothing)


def check_access(checks: Sequence[Mapping[str, Any]], *, as_of: str | None = None) -> Call[dict[str, Any]]:
    """Decides checks with `principal`, `action` and `asset_id`; returns `decisions`. Needs the scope policy:read."""
    body = {"checks": list(checks)} | ({"as_of": as_of} if as_of else {})
    return Call("POST", "/policy/check", parsing.one(dict), content=encoded(body))


def explain_access(check: Mapping[str, Any], *, as_of: str | None = None) -> Call[dict[str, Any]]:
    """Decides one check and returns every policy that matches, and by what. Needs the scope policy:read."""
    body = dict(check) | ({"as_of": as_of} if as_of else {})
    return Call("POST", "/policy/explain", parsing.one(dict), content=encoded(body))
