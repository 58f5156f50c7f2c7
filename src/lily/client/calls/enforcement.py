"""Enforcement: targets that are kept in line with the decisions, and their receipts."""

from collections.abc import Mapping
from typing import Any

from lily.client import parsing
from lily.client.call import CREATED, Call, path
from lily.client.encoding import encoded
from lily.client.results import Page

_TARGETS = "enforcement-targets"


def add_target(target: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Adds a target with `name`, `type` and `config`; it is kept in line from then on. Needs the scope admin."""
    return Call("POST", path(_TARGETS), parsing.one(dict), content=encoded(dict(target)), success=CREATED)


def targets(*, page_size: int = 100) -> Call[Page[dict[str, Any]]]:
    """Iterates over the targets, by name. Needs the scope policy:read."""
    return Call("GET", path(_TARGETS), parsing.page_of(dict), {"limit": str(page_size)})


def target(name: str) -> Call[dict[str, Any]]:
    """Returns one target: whether it is in line, its last run, drift and failures. Needs the scope policy:read."""
    return Call("GET", path(_TARGETS, name), parsing.one(dict))


def remove_target(name: str, *, forget: bool = False) -> Call[dict[str, Any]]:
    """Has everything reverted that was applied to a target, unless `forget`, and the target forgotten. Needs the scope
    admin."""
    given = {"forget": "true"} if forget else {}
    return Call("DELETE", path(_TARGETS, name), parsing.one(dict), given)


def apply_target(name: str) -> Call[dict[str, Any]]:
    """Queues a run of the target. Needs the scope policy:write."""
    return Call("POST", path(_TARGETS, name, "apply"), parsing.one(dict))


def plan_target(name: str) -> Call[dict[str, Any]]:
    """Returns what a run would change in the target. Needs the scope policy:write."""
    return Call("POST", path(_TARGETS, name, "plan"), parsing.one(dict), wait=60)


def target_script(name: str, *, remove: bool = False) -> Call[str]:
    """Returns the script of a target that Lily does not connect to. Needs the scope policy:write."""
    given = {"remove": "true"} if remove else {}
    return Call("GET", path(_TARGETS, name, "script"), lambda response: response.text, given, wait=60)


def confirm_script(name: str, digest: str) -> Call[dict[str, Any]]:
    """Records that the script of that digest was run. Needs the scope policy:write."""
    content = encoded({"digest": digest})
    return Call("POST", path(_TARGETS, name, "confirm"), parsing.one(dict), content=content, wait=60)


def enforcements(
    *,
    target: str | None = None,
    asset: str | None = None,
    tag: str | None = None,
    state: str | None = None,
    page_size: int = 100,
) -> Call[Page[dict[str, Any]]]:
    """Iterates over the receipts of targets. Needs the scope policy:read."""
    given = {"target": target, "asset": asset, "tag": tag, "state": state, "limit": str(page_size)}
    chosen = {name: value for name, value in given.items() if value is not None}
    return Call("GET", "/enforcements", parsing.page_of(dict), chosen)
