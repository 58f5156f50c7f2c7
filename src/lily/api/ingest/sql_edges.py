"""Stores the edges of an SQL script.

Edges that a table or view has by its definition are claimed by that definition, as a job's run claims its edges
(decision 13): a later definition of the same table or view replaces them. All others are added to the source layer,
where a user's settings take precedence.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from lily.api.calls import Call
from lily.intake.sql.protocol import AnalysisResult, Edge
from lily.model import clock, ids
from lily.model.edges import NO_DATASETS, Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeStatement, RunDatasets
from lily.model.errors import Refused
from lily.model.values import MAX_QUALIFIED_NAME, Checker
from lily.observe import traces

NAMES_BYTES = 1 << 20  # the event with its claims has to fit into one record of the log
JOB = "sql-definition"  # before the name of the table or view, in the name of the job that claims its edges


def definition_job(table: str) -> str:
    """The name of the job that claims the edges of a table or view by its definition."""
    return f"{JOB}:{table}"


class Resolved(NamedTuple):
    key: EdgeKey
    definition: str | None  # the table or view whose definition states the edge
    names: tuple[str, str]  # of the ends


def resolved(tenant: str, analysis: AnalysisResult) -> dict[Edge, Resolved]:
    """The keys of the edges. Raises Refused if a name is not a valid name of an asset."""
    checker, keys = Checker(), dict[Edge, Resolved]()
    for edge, definition in zip(analysis.edges, analysis.definitions, strict=True):
        ends = [_checked(checker, name) for name in edge[:2]]
        start, end = (ids.asset_id(tenant, name) for name in ends)
        if start == end:
            continue  # the names differ only in their form; such an edge would become a dead letter
        key, names = EdgeKey(start, end, edge.type), (ends[0], ends[1])
        keys[Edge(*names, edge.type)] = Resolved(key, definition, names)
    for name in analysis.without_sources:
        _checked(checker, name)
    if checker.problems:
        raise Refused(*checker.problems[:20])
    return keys


def _checked(checker: Checker, name: str) -> str:
    if ids.looks_like_uuid(name):
        checker.refuse("INVALID_VALUE", "a name must not look like a UUID", "sql")
    return checker.name(name, "sql", MAX_QUALIFIED_NAME) or ""


def edge_events(
    call: Call, edges: Iterable[Resolved], without_sources: Iterable[str]
) -> Iterator[EdgeEvent | ClaimsEvent]:
    time, claims = clock.now(), dict[str, list[Resolved]]()
    for name in without_sources:
        claims[name] = []
    for edge in edges:
        if edge.definition is None:
            yield _stated(call, time, edge)
        else:
            claims.setdefault(edge.definition, []).append(edge)
    for definition, claimed in claims.items():
        yield _claimed(call, time, definition, claimed)


def _stated(call: Call, time: str, edge: Resolved) -> EdgeEvent:
    by, authorised = call.principal.name, call.principal.may("policy:write")
    statement = EdgeStatement("source", "upsert", edge.key, {}, by, authorised, edge.names)
    return EdgeEvent(
        ids.event_id(), time, call.tenant, statement, correlation=call.correlation, trace=traces.traceparent()
    )


def _claimed(call: Call, time: str, definition: str, edges: Sequence[Resolved]) -> ClaimsEvent:
    """Without edges it states that there is no source."""
    event_id, defined = ids.event_id(), ids.asset_id(call.tenant, definition)
    datasets = NO_DATASETS if edges else RunDatasets(explained=(defined,))
    return ClaimsEvent(
        event_id,
        time,
        call.tenant,
        ids.asset_id(call.tenant, definition_job(definition)),
        event_id,  # each definition is a run of its own
        True,
        tuple(Claim(edge.key) for edge in edges),
        call.principal.name,
        call.principal.may("policy:write"),
        datasets,
        names=_names(edges),
        correlation=call.correlation,
        trace=traces.traceparent(),
    )


def _names(edges: Iterable[Resolved]) -> tuple[str, ...]:
    """The names of the ends, as many as fit."""
    names = list(dict.fromkeys(name for edge in edges for name in edge.names))
    lengths = accumulate(len(name.encode()) for name in names)
    return tuple(name for name, length in zip(names, lengths, strict=True) if length <= NAMES_BYTES)
