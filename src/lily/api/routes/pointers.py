"""Where to find what: the root, the documentation, the schemas."""

import html

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lily import __version__
from lily.api.answers import Json, Pointer
from lily.api.calls import Anyone
from lily.api.errors import not_found
from lily.model.schemas import SCHEMAS

router = APIRouter(tags=["operations"])

# Swagger UI comes from its CDN and replaces the plain list; where it cannot be reached the list stays.
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Lily API</title>
<link rel="stylesheet" href="https://cdn.jsdelivr.net/npm/swagger-ui-dist@5/swagger-ui.css"></head>
<body><div id="docs"><h1>Lily API</h1><p>The whole contract: <a href="/openapi.json">/openapi.json</a></p>
<table>{rows}</table></div>
<script src="https://cdn.jsdelivr.net/npm/swagger-ui-dist@5/swagger-ui-bundle.js"></script>
<script>if (window.SwaggerUIBundle) SwaggerUIBundle({{url: "/openapi.json", dom_id: "#docs"}})</script>
</body></html>"""


@router.get("/", responses={200: {"model": Pointer}})
async def root() -> Json:
    """What this is and where to read on."""
    return Json(
        {"name": "lily", "version": __version__, "docs": "/docs", "openapi": "/openapi.json", "schemas": "/schemas"}
    )


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    rows = "".join(
        f"<tr><td>{method.upper()}</td><td>{html.escape(path)}</td><td>{html.escape(operation['description'])}</td></tr>"
        for path, operations in request.app.openapi()["paths"].items()
        for method, operation in operations.items()
    )
    return HTMLResponse(_PAGE.format(rows=rows))


@router.get("/schemas", responses={200: {"description": "JSON Schemas by name"}})
async def schemas(call: Anyone) -> Json:  # noqa: ARG001 - asked for its authentication
    """The JSON Schemas of bodies and events."""
    return Json(SCHEMAS)


@router.get("/schemas/{name}", responses={200: {"description": "One JSON Schema"}})
async def schema(name: str, call: Anyone) -> Json:  # noqa: ARG001 - asked for its authentication
    """One JSON Schema."""
    if name not in SCHEMAS:
        raise not_found(name, "schema")
    return Json(SCHEMAS[name])
