"""Which dead letters a call may read or replay: those whose assets it may read or write.

A refused event can be any bytes. One that cannot be read could be about any asset, so a restricted caller does not
get it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import orjson

from lily.api.auth.authorisation import context_of, record_decisions
from lily.api.auth.facts import facts_of_references
from lily.api.auth.restrictions import Denial, restrictions_of
from lily.api.calls import Call
from lily.model import ids
from lily.model.edges import RunDatasets
from lily.policy import Action, Facts
from lily.policy.names_above import names_above

_EDGES = ("edges", "released")  # of a job


class Letter(Protocol):
    @property
    def id(self) -> int: ...
    @property
    def original(self) -> bytes | None: ...


async def denied_letters(call: Call, action: Action, letters: Sequence[Letter]) -> set[int]:
    """The ids of those that the call may not read or replay."""
    restrictions = await restrictions_of(call.services, call.principal, action)
    if restrictions is None or not letters:
        return set()
    statements = {letter.id: _statement(letter.original) for letter in letters}
    named = {reference for data in statements.values() for reference in _references(data)}
    known, context = await facts_of_references(call.services, restrictions, named), context_of(call)

    def decided(data: dict[str, Any]) -> list[tuple[str, Denial | None]]:
        about = [known[reference] for reference in _references(data)]
        if data.get("qualified_name"):
            about.append(_stated(call.tenant, data))
        return [(one.id, restrictions.denial(action, one, context)) for one in about]

    decisions = {letter_id: decided(data) for letter_id, data in statements.items()}
    if action == "WRITE":  # a READ is a list, and what a list leaves out is not logged
        record_decisions(call, restrictions, action, [pair for pairs in decisions.values() for pair in pairs])
    return {
        letter_id
        for letter_id, pairs in decisions.items()
        if not pairs or any(denial is not None for _, denial in pairs)
    }


def _statement(original: bytes | None) -> dict[str, Any]:
    """The data of the event; empty if it cannot be read."""
    try:
        data = orjson.loads(original or b"")["data"]
    except (ValueError, TypeError, LookupError):
        return {}
    return data if isinstance(data, dict) else {}


def _references(data: dict[str, Any]) -> Iterator[str]:
    """The assets that a statement about an asset, its usage, an edge or the edges and datasets of a job names. The
    parent too: the asset may never have been stored, so that nothing else tells what it is below."""
    ends = [end for edges in _EDGES for edge in _list(data.get(edges)) for end in _list(edge)[:2]]
    datasets = [asset for role in RunDatasets._fields for asset in _list(data.get(role))]
    given = data.get("attributes")
    parent = given.get("parent") if isinstance(given, dict) else None
    for reference in (
        data.get("qualified_name"),
        data.get("asset_id"),
        parent,
        data.get("from"),
        data.get("to"),
        *ends,
        *datasets,
        *_columns(data),
    ):
        if isinstance(reference, str) and reference:
            yield reference


def _columns(data: dict[str, Any]) -> Iterator[str]:
    """The table whose columns a statement is about, and these columns."""
    parent, columns = data.get("parent"), data.get("columns")
    if isinstance(parent, str) and isinstance(columns, dict):
        yield parent
        yield from (f"{parent}.{name}" for name in columns)


def _stated(tenant: str, data: dict[str, Any]) -> Facts:
    """The asset as the event states it: it may never have been stored."""
    given = data.get("attributes")
    attributes = given if isinstance(given, dict) else {}
    name = _text(data.get("qualified_name"))
    tags = [tag for tag in (*_list(attributes.get("tags")), data.get("tag")) if isinstance(tag, str)]
    source, kind = _text(attributes.get("data_source")), _text(data.get("entity_type"))
    return Facts(ids.resolve(tenant, name), name, kind, source, (), tags, names_above=names_above(tenant, name, ()))


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []


def _text(given: Any) -> str:
    return given if isinstance(given, str) else ""
