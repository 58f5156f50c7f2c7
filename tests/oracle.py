"""The oracle for the catalogue: it sorts the events by time and applies them one by one.

It shares no code with `lily.model.layers`, which merges in any order; the two must agree.
"""

from collections.abc import Iterable
from typing import Any

from lily.model.events import AssetEvent


def catalogue(events: Iterable[AssetEvent]) -> dict[tuple[str, str], dict[str, Any]]:
    """`{(tenant, qualified name): {layer: {field: value}, created_at, updated_at}}`, tags as sets of keys."""
    assets: dict[tuple[str, str], dict[str, Any]] = {}
    for event in sorted(set_of(events), key=lambda event: (event.time, event.id)):
        asset = assets.setdefault((event.tenant, event.statement.qualified_name), {"created_at": event.time})
        asset["updated_at"] = event.time
        _apply(asset.setdefault(event.statement.layer, {}), event)
    return assets


def set_of(events: Iterable[AssetEvent]) -> list[AssetEvent]:
    return list({(event.id, event.asset_id): event for event in events}.values())


def _apply(layer: dict[str, Any], event: AssetEvent) -> None:
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
