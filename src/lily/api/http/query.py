"""Refuses unknown query parameters: a misspelt filter would otherwise be ignored and return everything."""

from collections.abc import Collection, Iterable, Iterator

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.requests import Request

from lily.model.errors import Problem, Refused
from lily.model.suggestions import MAX_LENGTH, hint

MAX_PROBLEMS = 20
LENIENT = ("/metrics", "/enforce/ranger/")  # scrapers and plug-ins add parameters of their own


def refuse_unknown_parameters(request: Request) -> None:
    """Raises Refused with a hint for each parameter that the matched route does not declare."""
    route = request.scope.get("route")
    if request.scope["query_string"] and isinstance(route, APIRoute) and not route.path.startswith(LENIENT):
        refuse_unknown(request.query_params.keys(), declared_parameters(route))


def declared_parameters(route: APIRoute) -> frozenset[str]:
    return frozenset(_declared(route.dependant))


def refuse_unknown(given: Iterable[str], known: Collection[str]) -> None:
    unknown = [name for name in given if name not in known][:MAX_PROBLEMS]
    if unknown:
        raise Refused(*(_problem(name, known) for name in unknown))


def _declared(dependant: Dependant) -> Iterator[str]:
    for field in dependant.query_params:
        yield field.alias
    for dependency in dependant.dependencies:
        yield from _declared(dependency)


def _problem(name: str, known: Collection[str]) -> Problem:
    quoted = name[:MAX_LENGTH]
    remedy = "waiting is a header, `Prefer: wait=30`" if name == "wait" else hint(name, known)
    return Problem("UNKNOWN_PARAMETER", f"unknown query parameter `{quoted}`; {remedy}", quoted)
