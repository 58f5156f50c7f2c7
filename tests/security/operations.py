"""The operations of the API as its OpenAPI document has them, and how to call each."""

from typing import Any
from urllib.parse import quote

import httpx

from tests.built_api import document
from tests.contract.routes import ROUTES

DOCUMENT = document()
OPERATIONS: dict[str, dict[str, Any]] = {
    f"{method.upper()} {path}": described
    for path, methods in DOCUMENT["paths"].items()
    for method, described in methods.items()
}
WITH_TOKEN = [name for name in OPERATIONS if ROUTES[name].scopes != ()]


def parameters(operation: str, place: str) -> list[str]:
    """Names of the parameters in the path or in the query."""
    return [one["name"] for one in OPERATIONS[operation].get("parameters", ()) if one["in"] == place]


def send(
    http: httpx.Client,
    operation: str,
    path: dict[str, str] | None = None,
    query: dict[str, str] | None = None,
    **more: Any,
) -> httpx.Response:
    """As `ROUTES` says, with other values of some parameters, and `json` or `content` instead of its body."""
    route = ROUTES[operation]
    method, _, template = operation.partition(" ")
    places = dict.fromkeys(parameters(operation, "path"), "none") | (route.path or {}) | (path or {})
    body = more or {"json": route.body}
    quoted = {name: quote(value, safe="") for name, value in places.items()}
    return http.request(method, template.format(**quoted), params={**(route.query or {}), **(query or {})}, **body)
