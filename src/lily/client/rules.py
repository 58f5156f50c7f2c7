"""The calls about attributes that travel, each described once, as those of `calls`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from lily.client import reading
from lily.client.answers import AttributeRule, DerivedAttribute, Page
from lily.client.call import Call
from lily.client.calls import JSON, encoded, prefer


def attributes(id_or_name: str) -> Call[list[DerivedAttribute]]:
    """What rules set on an asset, each value with its origin and the path that it took."""
    return Call("GET", f"/metadata/{quote(id_or_name, safe='')}/attributes", reading.derived_attributes)


def rules(*, page_size: int = 100) -> Call[Page[AttributeRule]]:
    """Which attributes travel along lineage, and how."""
    return Call("GET", "/propagation-rules", reading.page_of(reading.rule), params={"limit": str(page_size)})


def define_rule(
    name: str,
    attribute: str,
    mode: Literal["set-if-empty", "add", "override"],
    *,
    direction: Literal["downstream", "upstream", "both"] = "downstream",
    max_depth: int | None = None,
    edge_types: Sequence[str] | None = None,
    wait: int | None = None,
) -> Call[AttributeRule]:
    """Lets an attribute travel; raises Refused where it has a rule already. Needs the scope policy:write."""
    body = {
        "name": name,
        "attribute": attribute,
        "mode": mode,
        "direction": direction,
        "max_depth": max_depth,
        "edge_types": None if edge_types is None else list(edge_types),
    }
    # Not repeated by itself: the second attempt would find the first one's rule.
    return Call(
        "POST",
        "/propagation-rules",
        reading.one_rule,
        content=encoded(body),
        headers=JSON | prefer(wait),
        accepts=frozenset({201}),
        repeatable=False,
        wait=wait or 0,
    )


def redefine_rule(name: str, changes: Mapping[str, Any], *, wait: int | None = None) -> Call[AttributeRule]:
    """Changes the named fields of a rule, and what it derived follows. Needs the scope policy:write."""
    headers = JSON | prefer(wait)
    return Call("PUT", _path(name), reading.one_rule, content=encoded(changes), headers=headers, wait=wait or 0)


def undefine_rule(name: str, *, wait: int | None = None) -> Call[None]:
    """Takes a rule away, and with it everything that it set. Needs the scope policy:write."""
    return Call("DELETE", _path(name), reading.nothing, headers=prefer(wait), wait=wait or 0)


def _path(name: str) -> str:
    return f"/propagation-rules/{quote(name, safe='')}"
