"""`GET /enforce/ranger/service/…`: what Ranger plug-ins download, with a token in a header or a key in the path."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from lily.api.auth.engine_keys import Engine
from lily.api.calls import Enforces, HttpCall
from lily.api.http.openapi import ranger as documented
from lily.api.http.openapi.responses import Json
from lily.api.routes.enforcement.engine_addresses import add_addresses
from lily.enforce.ranger import Document, Documents

START = "/enforce/ranger"
NOT_MODIFIED = 304

router = APIRouter(tags=["enforcement"])

Service = Annotated[
    str, Path(description="`ranger.service.name`: a data source of the catalogue, or `trino` for all of them")
]
Choose = Callable[[Documents], Document]


async def _respond(call: HttpCall, service: str, choose: Choose, known: str) -> Response:
    document = choose(await call.services.ranger.get(call.tenant, service))
    return Response(status_code=NOT_MODIFIED) if known == str(document.version) else Json(document.body)


def _serve(choose: Choose, parameter: str, addresses: tuple[str, ...], response: type, about: str) -> None:
    """One document at the addresses that plug-ins call, those of plug-ins with Kerberos included."""
    version = Query(alias=parameter, description="The version that the plug-in has, -1 for none")

    async def with_header(call: Enforces, service: Service, known: Annotated[str, version] = "-1") -> Response:
        return await _respond(call, service, choose, known)

    async def with_key(call: Engine, service: Service, known: Annotated[str, version] = "-1") -> Response:
        return await _respond(call, service, choose, known)

    documentation = {200: {"model": response}, NOT_MODIFIED: {"description": "The plug-in has this version"}}
    for address in addresses:
        path = f"service/{address}/{{service}}"
        add_addresses(
            router, START, path, with_header, with_key, methods=["GET"], description=about, responses=documentation
        )


_serve(
    lambda made: made.policies,
    "lastKnownVersion",
    ("plugins/policies/download", "plugins/secure/policies/download"),
    documented.ServicePolicies,
    "The policies in force as policies of Ranger, for the tables of the catalogue. Everything else is denied.",
)
_serve(
    lambda made: made.tags,
    "lastKnownVersion",
    ("tags/download", "tags/secure/download"),
    documented.ServiceTags,
    "The effective tags of tables and columns.",
)
_serve(
    lambda made: made.roles,
    "lastKnownRoleVersion",
    ("roles/download", "roles/secure/download"),
    documented.ServiceRoles,
    "Who is in the groups and roles that policies name, as roles of Ranger.",
)
