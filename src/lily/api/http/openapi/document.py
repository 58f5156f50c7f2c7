"""The parts of the OpenAPI document that the framework cannot derive: bodies, errors, security, examples."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from lily.api.http.openapi.examples import BULK, Examples
from lily.api.http.openapi.responses import Errors
from lily.model.schemas import INGEST_BODY, Schema

JSON = "application/json"
BULK_PATH = "/ingest-metadata/bulk"
PUBLIC = ("/", "/docs", "/openapi.json", "/health/live", "/health/ready", "/webhook/{source}", "/webhook/okta")

TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API token (`lily up` prints one; `lily token create` makes others), or an access token of a "
    "configured OpenID Connect issuer.",
}

SECTIONS = {
    "ingest": "Ingest assets from their sources.",
    "metadata": "Read, search, change and delete assets; their history.",
    "tags": "The tags of an asset, how tags propagate along lineage, and what they would reach.",
    "lineage": "Edges between assets: stated, derived from SQL, or sent by OpenLineage.",
    "attributes": "Attributes that propagate along lineage by rules.",
    "policies": "Who may do what: policies, roles, users, and the decisions that follow from them.",
    "enforcement": "What engines ask before their users read data; targets that Lily keeps in line with its decisions.",
    "incidents": "Issues of data that other systems, quality rules and people report, and what is at risk; webhooks.",
    "refreshes": "How often data sources are refreshed, and the runs that scrapers take and report.",
    "quality": "How often assets are queried, and the policies that watch it and other signs of trouble.",
    "notifications": "Who is notified of what, where and how, and what was sent; changes as they happen, over the "
    "WebSocket `/ws/notifications`.",
    "dead letters": "Events that the pipeline refused.",
    "audit": "Who did what, when and from where.",
    "operations": "Health, metrics, schemas.",
}

# Declared on every route: each of them can happen anywhere, and a caller handles them alike everywhere.
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Errors, "description": description}
    for status, description in {
        400: "The request is invalid; nothing was stored",
        401: "The token is missing, unknown, expired or revoked",
        403: "The token lacks the scope, or names another tenant",
        404: "Not found in this tenant",
        405: "The path does not support this method",
        413: "The body is too large",
        415: "The body's content type or encoding is not supported",
        422: "The pipeline refused the write (with `Prefer: wait`)",
        429: "A quota of the tenant is exceeded, or the log is full at the moment; see `Retry-After`",
        500: "Internal error; search the log for the correlation id",
        503: "A dependency is unavailable at the moment; see `Retry-After`",
    }.items()
}


def body_schema(schema: Schema, examples: Examples) -> dict[str, Any]:
    """What a route passes as `openapi_extra`: the schema of its JSON body, and bodies to try."""
    return _body({JSON: _content(schema, examples)})


def body_model(shape: type[BaseModel], examples: Examples) -> dict[str, Any]:
    schema = shape.model_json_schema(by_alias=True)
    return body_schema(_inlined(schema, schema.pop("$defs", {})), examples)


def _inlined(schema: Any, defined: dict[str, Any]) -> Any:
    """With the models that it refers to in their places: a reference would not resolve within the document."""
    if isinstance(schema, list):
        return [_inlined(one, defined) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(defined[schema["$ref"].rpartition("/")[2]], defined)
    return {key: _inlined(value, defined) for key, value in schema.items()}


def _bulk_content(media_types: Sequence[str]) -> dict[str, Any]:
    """One entry per format that is installed."""
    array: Schema = {"type": "array", "items": INGEST_BODY}
    rows: Schema = {"type": "string", "description": "one body of `POST /ingest-metadata` per row"}
    schemas = {kind: array if kind == JSON else rows for kind in media_types}
    return {kind: _content(schema, BULK.get(kind, {})) for kind, schema in schemas.items()}


def _content(schema: Schema, examples: Examples) -> dict[str, Any]:
    shown = {name: {"value": value} for name, value in examples.items()}
    return {"schema": schema, "examples": shown} if shown else {"schema": schema}


def _body(content: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": content}}


def complete(document: dict[str, Any], page: int, bulk_types: Sequence[str]) -> None:
    """Adds what the framework cannot know: which calls need no token, the limits that are settings, and the formats
    that are plug-ins."""
    document["paths"][BULK_PATH]["post"] |= _body(_bulk_content(bulk_types))
    document.setdefault("components", {})["securitySchemes"] = {"token": TOKEN}
    document["tags"] = [{"name": name, "description": description} for name, description in SECTIONS.items()]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            operation["security"] = [] if path in PUBLIC else [{"token": []}]
            operation["summary"] = _first_sentence(operation["description"])
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "limit":
                    parameter["schema"].setdefault("maximum", page)


def _first_sentence(description: str) -> str:
    return re.split(r"(?<=[.:;])\s", description, maxsplit=1)[0].rstrip(".:;")
