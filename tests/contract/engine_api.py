"""`lily api` with two more routes for engines that send their key in the path: one responds, one fails.

Run as a program by test_engine_keys.
"""

from fastapi import APIRouter

from lily.api import server
from lily.api.auth.engine_keys import Engine
from lily.api.http.openapi.responses import Json
from lily.app import run_api
from lily.settings import Settings

router = APIRouter()


@router.get("/enforce/probe/k/{key}/allow")
async def allow(call: Engine) -> Json:
    """Returns what the route sees."""
    return Json({"tenant": call.tenant, "path": call.request.url.path, "parameters": dict(call.request.path_params)})


@router.get("/enforce/probe/k/{key}/write")
async def write(call: Engine) -> Json:
    """Needs a scope that no key has."""
    call.require("policy:write", "this call", call.request.url.path)
    return Json({})


@router.get("/enforce/probe/k/{key}/fail")
async def fail(call: Engine) -> Json:
    """Fails, with all that it sees in the message."""
    raise RuntimeError(f"{call.request.url} {call.request.scope!r}")


if __name__ == "__main__":
    server.ROUTERS = (router, *server.ROUTERS)  # type: ignore[assignment]
    run_api(Settings())
