"""`/docs`: the OpenAPI document as an interactive page. Swagger UI comes from an installed package, not from a CDN."""

from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, HTMLResponse

from lily import __version__
from lily.api.http.errors import not_found
from lily.api.pages.page import load

router = APIRouter(include_in_schema=False)

PACKAGE = "fastapi-offline"
ASSETS = ("swagger-ui.css", "swagger-ui-bundle.js")
VERSION = version(PACKAGE)
PAGE = load("docs", {"version": __version__, "assets": f"/docs/assets/{VERSION}"}, styles="'self'", scripts="'self'")
# The URL contains the version, so browsers may cache the files forever.
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
_FOLDER = Path(str(files(PACKAGE.replace("-", "_")) / "static"))


@router.head("/docs")
@router.get("/docs")
async def docs() -> HTMLResponse:
    return PAGE.response()


@router.get("/docs/assets/{release}/{name}")
async def asset(release: str, name: str) -> FileResponse:
    if release != VERSION or name not in ASSETS:
        raise not_found(name, "file of the documentation")
    return FileResponse(_FOLDER / name, headers=FOREVER)
