"""The five calls of a collection that administrators manage: list, create, read, replace and delete."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter
from pydantic import BaseModel

from lily.api.calls import Anyone
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.examples import Examples
from lily.api.http.openapi.policy_responses import EXISTS
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.policy.administration import Administered, create, listed, one, remove, replace
from lily.model.schemas import Schema


class Shapes(NamedTuple):
    """What the calls take and return."""

    reference: Any  # the path parameter that names one object
    body: Schema
    replaced_body: Schema
    examples: Examples
    item: type[BaseModel]
    page: type[BaseModel]
    deleted: type[BaseModel]
    replace_errors: Mapping[int | str, dict[str, Any]] = {}


class Calls:
    """The calls for one kind. Each is a route of its own in the OpenAPI document, with these descriptions."""

    def __init__(self, kind: Administered, shapes: Shapes) -> None:
        self.router = APIRouter(tags=["policies"])
        self._kind, self._shapes = kind, shapes
        self._plural, self._name = kind.path.strip("/").replace("-", "_"), kind.what.replace(" ", "_")
        self._path = f"{kind.path}/{{{kind.identified_by}:text}}"

    def read(self) -> None:
        kind, reference = self._kind, self._shapes.reference

        async def list_all(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
            return await listed(call, kind, limit, cursor)

        async def read_one(named: Annotated[str, reference], call: Anyone) -> Json:
            return await one(call, kind, named)

        plural = self._plural.replace("_", " ")
        self.router.add_api_route(
            kind.path,
            list_all,
            name=self._plural,
            description=f"Returns the {plural}, by {kind.identified_by}.",
            responses={200: {"model": self._shapes.page}},
        )
        self.router.add_api_route(
            self._path,
            read_one,
            name=self._name,
            description=f"Returns one {kind.what}.",
            responses={200: {"model": self._shapes.item}},
        )

    def create(self, description: str) -> None:
        kind = self._kind

        async def create_one(call: Anyone) -> Json:
            return await create(call, kind)

        self.router.add_api_route(
            kind.path,
            create_one,
            methods=["POST"],
            status_code=201,
            name=f"create_{self._name}",
            description=description,
            responses={201: {"model": self._shapes.item}, **EXISTS},
            openapi_extra=body_schema(self._shapes.body, self._shapes.examples),
        )

    def replace(self, description: str) -> None:
        kind, reference = self._kind, self._shapes.reference

        async def replace_one(named: Annotated[str, reference], call: Anyone) -> Json:
            return await replace(call, kind, named)

        self.router.add_api_route(
            self._path,
            replace_one,
            methods=["PUT"],
            name=f"replace_{self._name}",
            description=description,
            responses={200: {"model": self._shapes.item}, **self._shapes.replace_errors},
            openapi_extra=body_schema(self._shapes.replaced_body, self._shapes.examples),
        )

    def delete(self, description: str) -> None:
        kind, reference = self._kind, self._shapes.reference

        async def delete_one(named: Annotated[str, reference], call: Anyone) -> Json:
            return await remove(call, kind, named)

        self.router.add_api_route(
            self._path,
            delete_one,
            methods=["DELETE"],
            name=f"delete_{self._name}",
            description=description,
            responses={200: {"model": self._shapes.deleted}},
        )


def router_of(kind: Administered, shapes: Shapes, *, create: str, replace: str, delete: str) -> APIRouter:
    """The routes of a collection, with the descriptions of the calls that change it."""
    calls = Calls(kind, shapes)
    calls.read()
    calls.create(create)
    calls.replace(replace)
    calls.delete(delete)
    return calls.router
