"""What the OpenAPI document says beyond what the framework works out: bodies, errors, security."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from lily.api.http.responses import Errors
from lily.model.schemas import INGEST_BODY, Schema

JSON = "application/json"
BULK = "/ingest-metadata/bulk"
PUBLIC = ("/", "/docs", "/openapi.json", "/health/live", "/health/ready")

# Declared on every route: a fault can meet any of them, and a caller has to handle them alike everywhere.
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Errors, "description": says}
    for status, says in {
        400: "The input breaks the contract; nothing was stored",
        401: "No token, or one that is unknown, expired or revoked",
        403: "The token lacks the scope, or names another tenant",
        404: "There is no such thing in this tenant",
        405: "The path does not take this method",
        413: "The body is too large",
        415: "The body's content type is not taken here",
        422: "The pipeline refused it (with Prefer: wait)",
        429: "The log takes no more right now; see Retry-After",
        500: "A fault of Lily; the log knows more under the correlation id",
        503: "A part is not available right now; see Retry-After",
    }.items()
}


def body_schema(schema: Schema, media_type: str = JSON) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


def body_model(shape: type[BaseModel]) -> dict[str, Any]:
    return body_schema(shape.model_json_schema())


def bulk_body(media_types: Sequence[str]) -> dict[str, Any]:
    """One entry for each format that is installed."""
    rows: Schema = {"type": "string", "description": "many ingest bodies, one per row"}
    array: Schema = {"type": "array", "items": INGEST_BODY}
    content = {kind: {"schema": array if kind == JSON else rows} for kind in media_types}
    return {"required": True, "content": content}


def complete(document: dict[str, Any], page: int, bulk_types: Sequence[str]) -> None:
    """States who may call without a token, the limits that are settings, and the formats that are plug-ins."""
    document["paths"][BULK]["post"]["requestBody"] = bulk_body(bulk_types)
    document.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            operation["security"] = [] if path in PUBLIC else [{"token": []}]
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "limit":
                    parameter["schema"].setdefault("maximum", page)
