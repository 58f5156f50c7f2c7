"""The oracle for the catalogue: it sorts the events by time and applies them one by one.

It shares no code with `lily.model.layers`, which merges in any order; the two must agree.
"""

from collections.abc import Iterable
from typing import Any

from lily.model.events import AssetEvent


def catalogue(events: Iterable[AssetEvent]) -> dict[tuple[str, str], dict[str, Any]]:
    """`{(tenant, qualified name): {layer: {field: value}, created_at, updated_at}}`, tags as sets of keys. `held`
    has the tags, and `held parents` the parents, that ended without authority."""
    assets: dict[tuple[str, str], dict[str, Any]] = {}
    for event in sorted(set_of(events), key=lambda event: (event.time, event.id)):
        asset = assets.setdefault((event.tenant, event.statement.qualified_name), {"created_at": event.time})
        asset["updated_at"] = event.time
        _apply(asset.setdefault(event.statement.layer, {}), event)
    return assets


def set_of(events: Iterable[AssetEvent]) -> list[AssetEvent]:
    return list({(event.id, event.asset_id): event for event in events}.values())


def _apply(layer: dict[str, Any], event: AssetEvent) -> None:
    shown_before, parent_before = set(layer.get("tags", ())), layer.get("parent")
    _apply_shown(layer, event)
    _apply_held(layer, event, shown_before, parent_before)


def _apply_held(layer: dict[str, Any], event: AssetEvent, shown_before: set[str], parent_before: str | None) -> None:
    """In the order of time it is simple: what goes without authority is held, what comes again is not, and who has
    authority ends what is left out."""
    statement, authorised = event.statement, event.statement.authorised
    held, parents = set(layer.pop("held", ())), set(layer.pop("held parents", ()))
    shown, parent = layer.get("tags", set()), layer.get("parent")
    if authorised and "tags" in statement.attributes:
        held = set()
    elif authorised and statement.operation == "untag" and statement.tag:
        held -= {statement.tag.casefold()}
    else:
        held |= shown_before
    if authorised and "parent" in statement.attributes:
        parents = set()
    elif parent_before is not None:
        parents |= {parent_before}
    if held - shown:
        layer["held"] = held - shown
    if parents - {parent}:
        layer["held parents"] = parents - {parent}


def _apply_shown(layer: dict[str, Any], event: AssetEvent) -> None:
    statement = event.statement
    for key, value in statement.attributes.items():
        if key == "tags":
            layer["tags"] = {tag.casefold() for tag in value or ()}
        elif value is None:
            layer.pop(key, None)
        else:
            layer[key] = value
    if statement.operation == "tag" and statement.tag:
        layer["tags"] = layer.get("tags", set()) | {statement.tag.casefold()}
    if statement.operation == "untag" and statement.tag:
        layer["tags"] = layer.get("tags", set()) - {statement.tag.casefold()}
    if statement.entity_type and statement.layer == "source":  # elsewhere it only names the type of the asset
        layer["entity_type"] = statement.entity_type
    if statement.layer == "source" or statement.operation in {"delete", "restore"}:
        layer["deleted"] = statement.operation == "delete"
    if statement.operation == "delete":
        layer["deleted with authority"] = statement.authorised
    if statement.layer != "source" and "parent" in statement.attributes:
        layer["parent with authority"] = statement.authorised
