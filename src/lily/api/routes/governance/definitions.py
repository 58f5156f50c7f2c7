"""What the calls for tag definitions and for propagation rules have in common."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, StringConstraints, TypeAdapter

from lily.api.calls import Call, HttpCall
from lily.api.http import cursors
from lily.api.http.bodies import read_body
from lily.api.http.errors import not_found
from lily.api.http.paging import checked_limit
from lily.api.ingest.edge_types import edge_types
from lily.api.reads.references import normal
from lily.api.receipts.settling import decision_settled
from lily.model.assets import tag_key
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_TAG, Checker
from lily.store.postgres.definitions.decisions import delete_definition, update_definition

KEY: TypeAdapter[str] = TypeAdapter(Annotated[str, StringConstraints(max_length=2 * MAX_TAG)])


class Definition(Protocol):
    @property
    def key(self) -> str: ...

    @property
    def name(self) -> str: ...

    def as_dict(self) -> dict[str, Any]: ...


Defined = TypeVar("Defined", bound=Definition)


@dataclass(frozen=True)
class Definitions(Generic[Defined]):
    """The definitions of one kind, by key. The calls that change one need `policy:write`."""

    kind: Literal["tag", "rule"]
    path: str
    read: Callable[[Call], Awaitable[Mapping[str, Defined]]]

    async def page(self, call: Call, limit: int, cursor: str | None) -> dict[str, Any]:
        """A page of the definitions, by name."""
        self._require_reader(call)
        question = (call.tenant, self.path.strip("/"))
        beyond = "" if cursor is None else cursors.unseal(cursor, KEY, *question)
        size = checked_limit(call, limit)
        known = await self.read(call)
        found = [known[key] for key in sorted(known) if key > beyond]
        more = cursors.seal(found[size - 1].key, *question) if len(found) > size else None
        return {"items": [one.as_dict() for one in found[:size]], "next_cursor": more}

    async def one(self, call: Call, name: str) -> dict[str, Any]:
        self._require_reader(call)
        return (await self.find(call, name)).as_dict()

    async def find(self, call: Call, name: str) -> Defined:
        found = (await self.read(call)).get(tag_key(normal(name)))
        if found is None:
            raise not_found(name, self.kind)
        return found

    async def update(self, call: Call, defined: Defined, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Changes the definition and returns it as it is then, once what depends on it is recomputed."""
        changes = dict(changes)
        if changes.get("edge_types") is not None:
            changes["edge_types"] = edge_types(changes["edge_types"])
        if not await update_definition(
            call.services.database, call.principal, self.kind, defined.key, changes, correlation=call.correlation
        ):
            raise not_found(defined.name, self.kind)
        await self.changed(call)
        return (await self.find(call, defined.name)).as_dict()

    async def delete(self, call: Call, defined: Defined) -> dict[str, Any]:
        if not await delete_definition(
            call.services.database, call.principal, self.kind, defined.key, correlation=call.correlation
        ):
            raise not_found(defined.name, self.kind)
        await self.changed(call)
        return {"status": "success", "name": defined.name}

    async def changed(self, call: Call) -> None:
        if self.kind == "tag":
            call.services.tag_rules.invalidate(call.tenant)
        await decision_settled(call)

    def _require_reader(self, call: Call) -> None:
        if not call.principal.may("policy:read"):
            call.require("metadata:read", "this call", self.path)


async def stated_changes(call: HttpCall, shape: type[BaseModel]) -> dict[str, Any]:
    """The fields that the body names, at least one."""
    body = await read_body(call.request, shape, call.services.settings.limits.body_bytes)
    changes = body.model_dump(exclude_unset=True)
    if not changes:
        raise Refused(Problem("MISSING_FIELD", "name at least one field to change", "body"))
    return changes


def stated_name(name: str) -> str:
    """The name of a new definition, as it is stored."""
    checker = Checker()
    checked = checker.name(name, "name", MAX_TAG) or ""
    if checker.problems:
        raise Refused(*checker.problems)
    return checked


def stated_edge_types(types: list[str] | None) -> frozenset[str] | None:
    return None if types is None else frozenset(edge_types(types))
