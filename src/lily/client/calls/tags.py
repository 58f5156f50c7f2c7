"""Tags: those of an asset, how tags propagate, and what a tag would reach."""

from collections.abc import Mapping, Sequence
from typing import Any

from lily.client import parsing
from lily.client.call import CREATED, Call, path
from lily.client.encoding import encoded
from lily.client.results import Direction, Page, Receipt, Tag, TagDefinition, WouldReach

definition = parsing.record(TagDefinition)


def tags(id_or_name: str, *, origins: bool = False) -> Call[list[Tag]]:
    """Returns the asset's tags with layer and path; with `origins`, all origins of each derived tag."""
    params = {"origins": "true"} if origins else {}
    return Call("GET", path("metadata", id_or_name, "tags"), parsing.list_of(parsing.record(Tag)), params)


def add_tag(id_or_name: str, tag: str, *, wait: int | None = None) -> Call[Receipt]:
    """Adds one tag to the user layer. Concurrent edits of other tags are kept."""
    return Call("POST", path("metadata", id_or_name, "tags"), parsing.receipt, content=encoded({"tag": tag}), wait=wait)


def remove_tag(id_or_name: str, tag: str, *, wait: int | None = None) -> Call[Receipt]:
    """Removes a tag from the user layer. A protective tag, such as PII, needs the scope policy:write."""
    return Call("DELETE", path("metadata", id_or_name, "tags", tag), parsing.receipt, wait=wait)


def suppress_tag(id_or_name: str, tag: str, reason: str, *, wait: int | None = None) -> Call[Receipt]:
    """Makes a derived tag ineffective on this asset and stops it there. A protective tag needs policy:write."""
    where = path("metadata", id_or_name, "tags", tag, "suppress")
    return Call("POST", where, parsing.receipt, content=encoded({"reason": reason}), wait=wait)


def unsuppress_tag(id_or_name: str, tag: str, *, wait: int | None = None) -> Call[Receipt]:
    """Undoes a suppression."""
    return Call("DELETE", path("metadata", id_or_name, "tags", tag, "suppress"), parsing.receipt, wait=wait)


def tag_definitions(*, page_size: int = 100) -> Call[Page[TagDefinition]]:
    """Iterates over the tenant's tag definitions."""
    return Call("GET", "/tags", parsing.page_of(definition), {"limit": str(page_size)})


def define_tag(
    name: str,
    *,
    propagates: bool = False,
    direction: Direction = "downstream",
    max_depth: int | None = None,
    edge_types: Sequence[str] | None = None,
    stopped_by_masking: bool = False,
) -> Call[TagDefinition]:
    """Defines how a tag propagates; raises Refused if it is already defined. Needs the scope policy:write."""
    body = {"name": name, "propagates": propagates, "stopped_by_masking": stopped_by_masking}
    body |= reach(direction, max_depth, edge_types)
    # Not retryable: a second attempt would fail on the definition that the first one made.
    return Call("POST", "/tags", parsing.one(definition), content=encoded(body), success=CREATED, retryable=False)


def redefine_tag(name: str, changes: Mapping[str, Any]) -> Call[TagDefinition]:
    """Changes the named fields of a definition. Needs the scope policy:write."""
    return Call("PUT", path("tags", name), parsing.one(definition), content=encoded(changes))


def undefine_tag(name: str) -> Call[None]:
    """Deletes a definition: the tag stays where it was set and no longer propagates. Needs policy:write."""
    return Call("DELETE", path("tags", name), parsing.nothing)


def would_reach(id_or_name: str, tag: str, *, page_size: int = 200) -> Call[Page[WouldReach]]:
    """Iterates over the assets that would get the tag if this asset had it, nearest first. Writes nothing."""
    params = {"limit": str(page_size)}
    body = encoded({"asset": id_or_name, "tag": tag})
    return Call("POST", "/propagations/dry-run", parsing.page_of(parsing.record(WouldReach)), params, content=body)


def reach(direction: Direction, max_depth: int | None, edge_types: Sequence[str] | None) -> dict[str, Any]:
    """The fields of a definition that limit how far it propagates."""
    types = None if edge_types is None else list(edge_types)
    return {"direction": direction, "max_depth": max_depth, "edge_types": types}
