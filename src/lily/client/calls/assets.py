"""Assets: ingest, read, search, and the changes of the user layer."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from lily.client import parsing
from lily.client.call import NDJSON, Call, named, path
from lily.client.encoding import encoded, stamped
from lily.client.results import Asset, Batch, BulkResult, Change, Page, Receipt
from lily.model import ids

Sort = Literal["id", "name", "qualified_name", "entity_type", "created_at", "updated_at"]


def ingest(
    entity_type: str,
    attributes: Mapping[str, Any],
    *,
    operation: Literal["upsert", "delete"] = "upsert",
    time: str | datetime | None = None,
    wait: int | None = None,
) -> Call[Receipt]:
    """Writes an asset to the source layer. With `wait` (seconds), returns as soon as the change can be read.

    Without a `time` the event is stamped here, once, so a retry repeats the same event.
    """
    body = {"entity_type": entity_type, "attributes": attributes, "operation": operation, "time": stamped(time)}
    return Call("POST", "/ingest-metadata", parsing.receipt, content=encoded(body), wait=wait)


def ingest_rows(rows: bytes, wait: int | None) -> Call[BulkResult]:
    """Sends one batch of events, one JSON object per line."""
    return Call("POST", "/ingest-metadata/bulk", parsing.bulk, content=rows, content_type=NDJSON, wait=wait)


def get(id_or_name: str) -> Call[Asset]:
    """Returns the asset with this id or qualified name; raises NotFound. A deleted asset has `is_deleted`."""
    where, params = _asset(id_or_name)
    return Call("GET", where, parsing.one(parsing.asset), params)


def find(
    q: str | None = None,
    *,
    entity_type: str | None = None,
    tag: str | None = None,
    data_source: str | None = None,
    owner: str | None = None,
    parent: str | None = None,
    at_risk: bool = False,
    include_deleted: bool = False,
    sort: Sort | None = None,
    order: Literal["asc", "desc"] | None = None,
    page_size: int = 200,
) -> Call[Page[Asset]]:
    """Iterates over all assets that match every filter; `at_risk` keeps those of open incidents and what is downstream
    of them. `q` matches words of names, owner, business terms and description; without `sort`, the best matches come
    first. Pages are fetched as the iterator reaches them."""
    filters = {"q": q, "entity_type": entity_type, "tag": tag, "data_source": data_source, "owner": owner}
    filters |= {"parent": parent, "at_risk": "true" if at_risk else None, "sort": sort, "order": order}
    filters |= {"include_deleted": "true" if include_deleted else None}
    params = {name: value for name, value in filters.items() if value is not None} | {"limit": str(page_size)}
    return Call("GET", "/metadata", parsing.page_of(parsing.asset), params)


def batch_get(references: Sequence[str]) -> Call[Batch]:
    """Returns up to 1,000 assets by id or qualified name; `missing` lists the references without an asset."""
    return Call("POST", "/metadata/batch-get", parsing.one(parsing.batch), content=encoded({"ids": list(references)}))


def update(id_or_name: str, attributes: Mapping[str, Any], *, wait: int | None = None) -> Call[Receipt]:
    """Sets the named attributes in the user layer, which wins over the source layer. None clears an attribute."""
    where, params = _asset(id_or_name)
    return Call("PUT", where, parsing.receipt, params, content=encoded({"attributes": attributes}), wait=wait)


def delete(id_or_name: str, *, wait: int | None = None) -> Call[Receipt]:
    """Deletes the asset in the user layer: later events of the source do not bring it back; `restore` does."""
    where, params = _asset(id_or_name)
    return Call("DELETE", where, parsing.receipt, params, wait=wait)


def restore(id_or_name: str, *, wait: int | None = None) -> Call[Receipt]:
    """Undoes a deletion."""
    return Call("POST", path("metadata", id_or_name, "restore"), parsing.receipt, wait=wait)


def history(id_or_name: str, *, page_size: int = 100) -> Call[Page[Change]]:
    """Iterates over the asset's changes, newest first: what changed, when, by whom, and by which event."""
    params = {"limit": str(page_size)}
    return Call("GET", path("metadata", id_or_name, "history"), parsing.page_of(parsing.change), params)


def _asset(id_or_name: str) -> tuple[str, dict[str, str]]:
    """A qualified name goes into the query, because proxies may decode a quoted slash in a path."""
    if ids.looks_like_uuid(named(id_or_name)):
        return f"/metadata/{id_or_name}", {}
    return "/metadata/by-name", {"qualified_name": id_or_name}
