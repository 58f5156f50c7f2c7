"""Propagation rules: which attributes propagate along lineage, and what they set."""

from collections.abc import Mapping, Sequence
from typing import Any

from lily.client import parsing
from lily.client.call import CREATED, Call, path
from lily.client.calls.tags import reach
from lily.client.encoding import encoded
from lily.client.results import AttributeRule, DerivedAttribute, Direction, Mode, Page

PATH = "/propagation-rules"
rule = parsing.record(AttributeRule)


def attributes(id_or_name: str) -> Call[list[DerivedAttribute]]:
    """Returns the attributes that rules set on the asset, each with its origin and path."""
    return Call("GET", path("metadata", id_or_name, "attributes"), parsing.list_of(parsing.record(DerivedAttribute)))


def rules(*, page_size: int = 100) -> Call[Page[AttributeRule]]:
    """Iterates over the tenant's propagation rules."""
    return Call("GET", PATH, parsing.page_of(rule), {"limit": str(page_size)})


def define_rule(
    name: str,
    attribute: str,
    mode: Mode,
    *,
    direction: Direction = "downstream",
    max_depth: int | None = None,
    edge_types: Sequence[str] | None = None,
    wait: int | None = None,
) -> Call[AttributeRule]:
    """Makes an attribute propagate; raises Refused if it already has a rule. Needs the scope policy:write."""
    body = encoded({"name": name, "attribute": attribute, "mode": mode} | reach(direction, max_depth, edge_types))
    # Not retryable: a second attempt would fail on the rule that the first one made.
    return Call("POST", PATH, parsing.one(rule), content=body, wait=wait, success=CREATED, retryable=False)


def redefine_rule(name: str, changes: Mapping[str, Any], *, wait: int | None = None) -> Call[AttributeRule]:
    """Changes the named fields of a rule; derived values are recomputed. Needs the scope policy:write."""
    return Call("PUT", PATH + path(name), parsing.one(rule), content=encoded(changes), wait=wait)


def undefine_rule(name: str, *, wait: int | None = None) -> Call[None]:
    """Deletes a rule and every value that it set. Needs the scope policy:write."""
    return Call("DELETE", PATH + path(name), parsing.nothing, wait=wait)
