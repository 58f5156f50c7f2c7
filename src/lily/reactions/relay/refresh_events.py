"""Runs of refreshes as events: the request for scrapers, and what the outcome means for incidents.

Ids follow from the run, so an event that is published again is the same event."""

from typing import Any

from lily.incidents import IncidentEvent, IncidentStatement, SeriesPassed
from lily.model.clock import stamp
from lily.model.durations import shown_duration
from lily.model.envelopes import cloud_event
from lily.model.refreshes import REFRESH_REQUESTED
from lily.store.postgres.outbox.batches import RefreshEnd, RefreshRequest

SOURCE = "refresher"  # of the incidents
KIND = "refresh_failed"


def request_event(run: RefreshRequest) -> dict[str, Any]:
    data = {
        "run_id": run.run_id,
        "data_source": run.data_source,
        "requested_at": stamp(run.requested_at),
        "due_at": stamp(run.due_at),
        "timeout": shown_duration(run.timeout),
        "reason": run.reason,
    }
    return cloud_event(
        REFRESH_REQUESTED,
        event_id=f"refresh-{run.run_id}",
        time=data["requested_at"],
        tenant=run.tenant_id,
        subject=run.data_source,
        data=data,
    )


def outcome_event(run: RefreshEnd) -> IncidentEvent:
    """A failure states an incident, or adds to the one that began with the first failure; a success resolves it."""
    return IncidentEvent(f"refresh-{run.run_id}", stamp(run.finished_at), run.tenant_id, _statement(run))


def _statement(run: RefreshEnd) -> IncidentStatement | SeriesPassed:
    if run.failure is None:
        return SeriesPassed(SOURCE, run.data_source)
    outcome = "timed out" if run.state == "timed_out" else "failed"
    return IncidentStatement(
        SOURCE,
        run.failure,
        "open",
        "warning",
        title=f"The refresh of {run.data_source} {outcome}",
        description=run.error,
        kind=KIND,
        series=run.data_source,
        raw={"run_id": run.run_id, "data_source": run.data_source},
    )
