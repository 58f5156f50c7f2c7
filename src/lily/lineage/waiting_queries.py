"""SQL that only the event which starts a run has. It waits, and joins the event that completes the run, as if the
producer had sent it there (docs/decisions/0039)."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lily.model.edges import NOT_CONTENT, ClaimsEvent, RunDatasets
from lily.model.run_queries import read_run_query, selects_star

if TYPE_CHECKING:
    from lily.lineage.runs import RunLineage


def join_query(run: "RunLineage", event: ClaimsEvent) -> ClaimsEvent:
    """The event as it counts: without a query that has to wait, or with the one that waited for it. If a run has
    completed before its start arrives, the start does not wait."""
    if event.query is None and run.query is None:
        return event
    if event.query is not None and event.state != "START":
        run.query, run.queried = None, True
        return event
    if event.query is not None and not run.queried and (run.query is None or run.query[0] < event.clock):
        run.query = [event.clock, event.authorised, event.query.as_data()]
    waits = event.state != "COMPLETE" and run.state != "COMPLETE"
    waiting = None if waits or _is_explained(run, event) else run.query
    if not waits:
        run.query, run.queried = None, run.queried or waiting is not None
    return _without_query(event) if waiting is None else _with_query(run, event, *waiting[1:])


def _with_query(run: "RunLineage", event: ClaimsEvent, authorised: bool, given: list[Any]) -> ClaimsEvent:  # noqa: FBT001 - as it is stored
    """Another caller may have started the run: then both have to be authorised, and have named all of its datasets,
    because the query is read with these. The query keeps its own sender."""
    query = read_run_query(given)
    if query is None:
        return _without_query(event)
    datasets = RunDatasets(
        tuple(dict.fromkeys([*run.inputs, *event.datasets.inputs])),
        tuple(dict.fromkeys([*run.outputs, *event.datasets.outputs])),
        event.datasets.explained,
    )
    return replace(
        event,
        query=query._replace(complete=event.complete),
        complete=False,
        datasets=datasets,
        authorised=event.authorised and authorised and run.is_own,
    )


def _without_query(event: ClaimsEvent) -> ClaimsEvent:
    return event if event.query is None else replace(event, query=None)


def _is_explained(run: "RunLineage", event: ClaimsEvent) -> bool:
    """Whether facets state the sources of all outputs, and no `*` or input suggests that there are more. Without
    outputs the query names what it writes."""
    outputs, in_full = {*run.outputs, *event.datasets.outputs}, {*run.explained, *event.datasets.explained}
    if not outputs or outputs <= in_full:
        return bool(outputs)
    ends = {(start, end) for start, _, end in (stated.partition(">") for stated in run.stated)}
    stated = {end for _, end in ends} | {key.to_id for key, *_ in event.claims if key.type not in NOT_CONTENT}
    sources = {start for start, _ in ends} | {key.from_id for key, *_ in event.claims}
    inputs = {*run.inputs, *event.datasets.inputs} - outputs
    query = read_run_query(run.query[2]) if run.query is not None else None
    return outputs <= stated | in_full and inputs <= sources and not (query and selects_star(query.text))
