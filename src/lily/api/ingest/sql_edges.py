"""Stores the edges of an SQL script.

Edges that a table or view has by its definition are claimed by that definition, as a job's run claims its edges
(decision 13): a later definition of the same table or view replaces them. All others are added to the source layer,
where a user's settings take precedence.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lily.api.calls import Call
from lily.intake.sql.protocol import AnalysisResult, Edge
from lily.model import clock, ids
from lily.model.edges import Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeStatement
from lily.model.errors import Refused
from lily.model.values import MAX_QUALIFIED_NAME, Checker
from lily.observe import traces

JOB = "sql-definition"  # before the name of the table or view, in the name of the job that claims its edges


class Resolved(NamedTuple):
    key: EdgeKey
    definition: str | None  # the table or view whose definition states the edge


def resolved(tenant: str, analysis: AnalysisResult) -> dict[Edge, Resolved]:
    """The keys of the edges. Raises Refused if a name is not a valid name of an asset."""
    checker, keys = Checker(), dict[Edge, Resolved]()
    for edge, definition in zip(analysis.edges, analysis.definitions, strict=True):
        ends = [checker.name(name, "sql", MAX_QUALIFIED_NAME) or "" for name in edge[:2]]
        if any(ids.looks_like_uuid(name) for name in ends):
            checker.refuse("INVALID_VALUE", "a name must not look like a UUID", "sql")
        start, end = (ids.asset_id(tenant, name) for name in ends)
        keys[Edge(ends[0], ends[1], edge.type)] = Resolved(EdgeKey(start, end, edge.type), definition)
    if checker.problems:
        raise Refused(*checker.problems[:20])
    return keys


def edge_events(call: Call, edges: Iterable[Resolved]) -> Iterator[EdgeEvent | ClaimsEvent]:
    time, claims = clock.now(), dict[str, list[Claim]]()
    for key, definition in edges:
        if definition is None:
            yield _stated(call, time, key)
        else:
            claims.setdefault(definition, []).append(Claim(key))
    for definition, claimed in claims.items():
        yield _claimed(call, time, definition, claimed)


def _stated(call: Call, time: str, key: EdgeKey) -> EdgeEvent:
    statement = EdgeStatement("source", "upsert", key, {}, call.principal.name, call.principal.may("policy:write"))
    return EdgeEvent(
        ids.event_id(), time, call.tenant, statement, correlation=call.correlation, trace=traces.traceparent()
    )


def _claimed(call: Call, time: str, definition: str, claims: list[Claim]) -> ClaimsEvent:
    event_id = ids.event_id()
    return ClaimsEvent(
        event_id,
        time,
        call.tenant,
        ids.asset_id(call.tenant, f"{JOB}:{definition}"),
        event_id,  # each definition is a run of its own
        True,
        tuple(claims),
        call.principal.name,
        call.principal.may("policy:write"),
        correlation=call.correlation,
        trace=traces.traceparent(),
    )
