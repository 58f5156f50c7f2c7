"""The five calls of a collection that administrators manage: list, create, read, replace and delete."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter

from lily.api.calls import Anyone
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.policy_responses import EXISTS
from lily.api.http.openapi.policy_shapes import Responses, Shapes
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.policy.administration import Administered, create, listed, one, remove, replace


class Calls:
    """The calls for one kind. Each is a route of its own in the OpenAPI document, with these descriptions."""

    def __init__(self, kind: Administered, shapes: Shapes) -> None:
        self.router = APIRouter(tags=["policies"])
        self._kind, self._shapes = kind, shapes
        self._plural, self._name = kind.path.strip("/").replace("-", "_"), kind.what.replace(" ", "_")
        self._path = f"{kind.path}/{{{kind.identified_by}:{kind.convertor}}}"

    def read(self) -> None:
        kind, reference = self._kind, self._shapes.reference

        async def list_all(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
            return await listed(call, kind, limit, cursor)

        async def read_one(named: Annotated[str, reference], call: Anyone) -> Json:
            return await one(call, kind, named)

        plural = self._plural.replace("_", " ")
        described = f"Returns the {plural}, by {kind.identified_by}."
        self._add("GET", list_all, self._plural, described, {200: {"model": self._shapes.page}}, path=kind.path)
        self._add("GET", read_one, self._name, f"Returns one {kind.what}.", {200: {"model": self._shapes.item}})

    def create(self, description: str) -> None:
        kind = self._kind

        async def create_one(call: Anyone) -> Json:
            return await create(call, kind)

        responses: Responses = {201: {"model": self._shapes.item}, **EXISTS}
        body = body_schema(self._shapes.body, self._shapes.examples)
        self._add("POST", create_one, f"create_{self._name}", description, responses, body, kind.path)

    def replace(self, description: str) -> None:
        kind, reference = self._kind, self._shapes.reference

        async def replace_one(named: Annotated[str, reference], call: Anyone) -> Json:
            return await replace(call, kind, named)

        responses: Responses = {200: {"model": self._shapes.item}, **(self._shapes.replace_errors or {})}
        body = body_schema(self._shapes.replaced_body or self._shapes.body, self._shapes.examples)
        self._add("PUT", replace_one, f"replace_{self._name}", description, responses, body)

    def delete(self, description: str) -> None:
        kind, reference = self._kind, self._shapes.reference

        async def delete_one(named: Annotated[str, reference], call: Anyone) -> Json:
            return await remove(call, kind, named)

        responses: Responses = {200: {"model": self._shapes.deleted}}
        self._add("DELETE", delete_one, f"delete_{self._name}", description, responses)

    def _add(  # noqa: PLR0917 - what a route is made of
        self,
        method: str,
        endpoint: Callable[..., Awaitable[Json]],
        name: str,
        description: str,
        responses: Responses,
        body: dict[str, Any] | None = None,
        path: str = "",
    ) -> None:
        self.router.add_api_route(
            path or self._path,
            endpoint,
            methods=[method],
            status_code=201 if method == "POST" else None,
            name=name,
            description=description,
            responses=responses,
            openapi_extra=body,
        )


def router_of(kind: Administered, shapes: Shapes, *, create: str, replace: str, delete: str) -> APIRouter:
    """The routes of a collection, with the descriptions of the calls that change it."""
    calls = Calls(kind, shapes)
    calls.read()
    calls.create(create)
    calls.replace(replace)
    calls.delete(delete)
    return calls.router
