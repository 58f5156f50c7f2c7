"""Builds edge events from requests: many events of the user layer, or one event of any layer."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from lily.api.calls import Call
from lily.api.reads.references import normal
from lily.model import clock, ids
from lily.model.edges import EdgeEvent, EdgeKey, EdgeLayer, EdgeOperation, EdgeStatement, read_edge_statement
from lily.model.errors import Problem, Refused
from lily.observe import traces

CHUNK = 500  # edges that are validated before other requests can run
MAX_PROBLEMS = 1_000


async def edge_events(call: Call, edges: Sequence[Mapping[str, Any]], operation: EdgeOperation) -> list[EdgeEvent]:
    """One event per edge. Raises Refused with the problems of all of them: either every edge is accepted, or none.

    An edge that is stated twice counts once. If the two differ it is refused, since both statements would have the same
    time.
    """
    stated: dict[EdgeKey, EdgeStatement] = {}
    problems: list[Problem] = []
    for index, edge in enumerate(edges):
        if index % CHUNK == 0:
            await asyncio.sleep(0)
        try:
            statement = _statement(call, edge, "user", operation)
        except Refused as error:
            problems += [_of_edge(index, problem) for problem in error.problems]
            continue
        if stated.setdefault(statement.key, statement) != statement:
            problems.append(Problem("CONTRADICTION", "stated twice with different values", f"edges.{index}"))
    if problems:
        raise Refused(*problems[:MAX_PROBLEMS])
    time = clock.now()
    return [_event(call, time, statement) for statement in stated.values()]


def edge_event(call: Call, edge: Mapping[str, Any], layer: EdgeLayer, operation: EdgeOperation) -> EdgeEvent:
    """Raises Refused with every problem."""
    return _event(call, clock.now(), _statement(call, edge, layer, operation))


def _event(call: Call, time: str, statement: EdgeStatement) -> EdgeEvent:
    return EdgeEvent(
        ids.event_id(), time, call.tenant, statement, correlation=call.correlation, trace=traces.traceparent()
    )


def _statement(call: Call, edge: Mapping[str, Any], layer: EdgeLayer, operation: EdgeOperation) -> EdgeStatement:
    data = {
        **edge,
        "from": normal(edge["from"]),
        "to": normal(edge["to"]),
        "layer": layer,
        "operation": operation,
        "by": call.principal.name,
        "authorised": call.principal.may("policy:write"),
    }
    return read_edge_statement(data, tenant=call.tenant)


def _of_edge(index: int, problem: Problem) -> Problem:
    return Problem(problem.code, problem.description, f"edges.{index}.{problem.entity}")
