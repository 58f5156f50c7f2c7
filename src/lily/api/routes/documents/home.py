"""`/`: what this is, whether it is healthy, and where to go. A page for browsers, JSON for everything else."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from lily import __version__
from lily.api.http.negotiation import HTML, prefers_html
from lily.api.http.openapi.responses import Json, Pointer
from lily.api.pages.page import load

router = APIRouter(tags=["operations"])

PAGE = load("home", {"version": __version__})
POINTER = {
    "name": "lily",
    "version": __version__,
    "docs": "/docs",
    "openapi": "/openapi.json",
    "schemas": "/schemas",
    "health": "/health/ready",
    "metrics": "/metrics",
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": Pointer, "content": {HTML: {"schema": {"type": "string"}}}}
}


@router.head("/", include_in_schema=False)
@router.get("/", responses=_RESPONSES)
async def home(request: Request) -> Response:
    """Returns the addresses of the API's parts: an HTML page if `Accept` prefers `text/html`, else JSON."""
    response = PAGE.response() if prefers_html(request.headers.get("accept", "")) else Json(POINTER)
    response.headers["Vary"] = "Accept"
    return response
