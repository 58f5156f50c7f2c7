"""Every call of the API that the clients offer, each described once. The clients' methods take their signatures."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

import orjson

from lily.client import reading
from lily.client.answers import (
    Asset,
    Batch,
    BulkResult,
    Change,
    DeadLetter,
    Health,
    Page,
    Receipt,
    Replayed,
    Tag,
    TagDefinition,
    WouldReach,
)
from lily.client.call import Call
from lily.client.errors import Refused
from lily.model import clock, ids
from lily.model.errors import Problem

JSON = {"Content-Type": "application/json"}
NDJSON = {"Content-Type": "application/x-ndjson"}
Sort = Literal["id", "name", "qualified_name", "entity_type", "created_at", "updated_at"]


def ingest(
    entity_type: str,
    attributes: Mapping[str, Any],
    *,
    operation: Literal["upsert", "delete"] = "upsert",
    time: str | datetime | None = None,
    wait: int | None = None,
) -> Call[Receipt]:
    """States an asset as its source sees it; with `wait` seconds, returns as soon as it can be read.

    Without a `time` it is stamped here, once, so that a retry is the same statement and not a newer one.
    """
    body = {"entity_type": entity_type, "attributes": attributes, "operation": operation, "time": stamped(time)}
    return _write("POST", "/ingest-metadata", wait, body)


def ingest_rows(rows: bytes, wait: int | None) -> Call[BulkResult]:
    return Call(
        "POST",
        "/ingest-metadata/bulk",
        reading.bulk,
        content=rows,
        headers=NDJSON | prefer(wait),
        wait=wait or 0,
    )


def get(id_or_name: str) -> Call[Asset]:
    """The asset with this id or qualified name; raises NotFound. A deleted one is found, with `is_deleted`."""
    path, params = _asset(id_or_name)
    return Call("GET", path, reading.one_asset, params=params)


def find(
    q: str | None = None,
    *,
    entity_type: str | None = None,
    tag: str | None = None,
    data_source: str | None = None,
    owner: str | None = None,
    parent: str | None = None,
    include_deleted: bool = False,
    sort: Sort | None = None,
    order: Literal["asc", "desc"] | None = None,
    page_size: int = 200,
) -> Call[Page[Asset]]:
    """All assets that fit every filter, fetched a page at a time as the iterator gets there."""
    filters = _given(q=q, entity_type=entity_type, tag=tag, data_source=data_source, owner=owner, parent=parent)
    params = filters | _given(sort=sort, order=order, include_deleted="true" if include_deleted else None)
    return Call("GET", "/metadata", reading.page_of(reading.asset), params=params | {"limit": str(page_size)})


def batch_get(references: Sequence[str]) -> Call[Batch]:
    """Up to 1,000 assets at once, by id or qualified name; `missing` names those there are not."""
    return Call("POST", "/metadata/batch-get", reading.batch, content=encoded({"ids": list(references)}), headers=JSON)


def update(id_or_name: str, attributes: Mapping[str, Any], *, wait: int | None = None) -> Call[Receipt]:
    """Changes the named attributes as a person, whose word outlives the source's. None clears; absent is not stated."""
    path, params = _asset(id_or_name)
    return _write("PUT", path, wait, {"attributes": attributes}, params)


def delete(id_or_name: str, *, wait: int | None = None) -> Call[Receipt]:
    """Deletes softly, as a person: it stays deleted whatever the source says, until it is restored."""
    path, params = _asset(id_or_name)
    return _write("DELETE", path, wait, params=params)


def restore(id_or_name: str, *, wait: int | None = None) -> Call[Receipt]:
    """Undoes a deletion."""
    return _write("POST", _below(id_or_name, "restore"), wait)


def tags(id_or_name: str, *, origins: bool = False) -> Call[list[Tag]]:
    """The tags with the layer each comes from and the path it took; with `origins`, every origin of the derived."""
    params = {"origins": "true"} if origins else {}
    return Call("GET", _below(id_or_name, "tags"), reading.tags, params=params)


def add_tag(id_or_name: str, tag: str, *, wait: int | None = None) -> Call[Receipt]:
    """Adds one tag as a person; edits of other tags at the same time are not lost."""
    return _write("POST", _below(id_or_name, "tags"), wait, {"tag": tag})


def remove_tag(id_or_name: str, tag: str, *, wait: int | None = None) -> Call[Receipt]:
    """Takes a person's tag away. A protective one, such as PII, needs the scope policy:write."""
    return _write("DELETE", _below(id_or_name, "tags", tag), wait)


def suppress_tag(id_or_name: str, tag: str, reason: str, *, wait: int | None = None) -> Call[Receipt]:
    """A derived tag is not effective here, nor does it travel on. A protective one needs the scope policy:write."""
    return _write("POST", _below(id_or_name, "tags", tag, "suppress"), wait, {"reason": reason})


def unsuppress_tag(id_or_name: str, tag: str, *, wait: int | None = None) -> Call[Receipt]:
    """Undoes a suppression."""
    return _write("DELETE", _below(id_or_name, "tags", tag, "suppress"), wait)


def tag_definitions(*, page_size: int = 100) -> Call[Page[TagDefinition]]:
    """How the tenant's tags travel."""
    return Call("GET", "/tags", reading.page_of(reading.definition), params={"limit": str(page_size)})


def define_tag(
    name: str,
    *,
    propagates: bool = False,
    direction: Literal["downstream", "upstream", "both"] = "downstream",
    max_depth: int | None = None,
    edge_types: Sequence[str] | None = None,
    stopped_by_masking: bool = False,
) -> Call[TagDefinition]:
    """Defines a tag; raises Refused where there is one of that name. Needs the scope policy:write."""
    body = {
        "name": name,
        "propagates": propagates,
        "direction": direction,
        "max_depth": max_depth,
        "edge_types": None if edge_types is None else list(edge_types),
        "stopped_by_masking": stopped_by_masking,
    }
    # Not repeated by itself: the second attempt would find the first one's tag.
    return Call(
        "POST",
        "/tags",
        reading.one_definition,
        content=encoded(body),
        headers=JSON,
        accepts=frozenset({201}),
        repeatable=False,
    )


def redefine_tag(name: str, changes: Mapping[str, Any]) -> Call[TagDefinition]:
    """Changes the named fields of a definition. Needs the scope policy:write."""
    path = f"/tags/{quote(name, safe='')}"
    return Call("PUT", path, reading.one_definition, content=encoded(changes), headers=JSON)


def undefine_tag(name: str) -> Call[None]:
    """Takes a definition away: the tag stays where it is stated, and travels no more. Needs the scope policy:write."""
    return Call("DELETE", f"/tags/{quote(name, safe='')}", reading.nothing)


def settings() -> Call[dict[str, Any]]:
    """What holds for the whole tenant: `on_delete`."""
    return Call("GET", "/settings", reading.settings)


def decide(changes: Mapping[str, Any]) -> Call[dict[str, Any]]:
    """Changes the tenant's settings. Needs the scope policy:write."""
    return Call("PUT", "/settings", reading.settings, content=encoded(changes), headers=JSON)


def would_reach(id_or_name: str, tag: str, *, page_size: int = 200) -> Call[Page[WouldReach]]:
    """Everything that would have the tag if the asset stated it, the nearest first. Nothing is written."""
    return Call(
        "POST",
        "/propagations/dry-run",
        reading.page_of(reading.would_reach),
        content=encoded({"asset": id_or_name, "tag": tag}),
        headers=JSON,
        params={"limit": str(page_size)},
    )


def history(id_or_name: str, *, page_size: int = 100) -> Call[Page[Change]]:
    """The asset's changes, newest first: who, when, what, from which event."""
    return Call("GET", _below(id_or_name, "history"), reading.page_of(reading.change), params={"limit": str(page_size)})


def dead_letters(*, page_size: int = 100) -> Call[Page[DeadLetter]]:
    """What the pipeline refused, newest first, and why."""
    return Call("GET", "/dead-letters", reading.page_of(reading.dead_letter), params={"limit": str(page_size)})


def replay(letters: Sequence[int] | None = None) -> Call[Replayed]:
    """Tries dead letters again: those named, else all that never were."""
    body = {"all": True} if letters is None else {"ids": list(letters)}
    return Call("POST", "/dead-letters/replay", reading.replayed, content=encoded(body), headers=JSON)


def health() -> Call[Health]:
    """Whether the API can serve right now. Asked once: raises Unavailable at once if nothing answers."""
    return Call("GET", "/health/ready", reading.health, accepts=frozenset({200, 503}), repeatable=False)


def stamped(time: str | datetime | None) -> str:
    """The time of a statement; now, where none is given."""
    if time is None:
        return clock.now()
    if isinstance(time, str):
        return time
    if time.tzinfo is None:
        problem = Problem("INVALID_TIME", "give the time a zone, such as datetime.now(UTC)", "time")
        raise Refused(0, [problem])
    return clock.stamp(time)


def _write(
    method: str, path: str, wait: int | None, body: Any = None, params: Mapping[str, str] | None = None
) -> Call[Receipt]:
    return Call(
        method,
        path,
        reading.receipt,
        params=params or {},
        content=None if body is None else encoded(body),
        headers=prefer(wait) | ({} if body is None else JSON),
        wait=wait or 0,
    )


def _asset(id_or_name: str) -> tuple[str, dict[str, str]]:
    """A name goes into the query, where a slash in it is no border between steps."""
    if ids.looks_like_uuid(id_or_name):
        return f"/metadata/{id_or_name}", {}
    return "/metadata/by-name", {"qualified_name": id_or_name}


def _below(id_or_name: str, *steps: str) -> str:
    return "/metadata/" + "/".join(quote(step, safe="") for step in (id_or_name, *steps))


def prefer(wait: int | None) -> dict[str, str]:
    return {} if wait is None else {"Prefer": f"wait={wait}"}


def _given(**filters: str | None) -> dict[str, str]:
    return {name: value for name, value in filters.items() if value is not None}


def encoded(body: Any) -> bytes:
    """Raises Refused for what no JSON can say, as the door would."""
    try:
        return orjson.dumps(body, default=_jsonable)
    except TypeError as error:
        raise Refused(0, [Problem("INVALID_TYPE", f"this is no JSON: {error}", "body")]) from error


def _jsonable(value: Any) -> Any:
    """Read-only mappings are as good as dicts."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)
