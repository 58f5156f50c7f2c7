"""`/docs`: every call, from the OpenAPI document."""

import html

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

router = APIRouter(tags=["operations"])

# Everything the page needs is in it: a page beside the API loads no one else's scripts, and works without a network.
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Lily API</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 3rem auto; padding: 0 1rem; color: #222 }}
td {{ padding: .35rem .8rem .35rem 0; border-bottom: 1px solid #eee; vertical-align: top }}
td:first-child {{ font-weight: 600; color: #2a6f4e }} td:nth-child(2) {{ font-family: monospace }}
</style></head>
<body><h1>Lily API</h1>
<p>Every call carries <code>Authorization: Bearer TOKEN</code>. Parameters, bodies and answers of each:
<a href="/openapi.json">/openapi.json</a>, for Swagger UI, Postman or a generator of clients.</p>
<table>{rows}</table>
</body></html>"""


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    rows = "".join(
        f"<tr><td>{method.upper()}</td><td>{html.escape(path)}</td><td>{html.escape(operation['description'])}</td></tr>"
        for path, operations in request.app.openapi()["paths"].items()
        for method, operation in operations.items()
    )
    return HTMLResponse(_PAGE.format(rows=rows))
