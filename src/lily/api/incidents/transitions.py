"""What a person states about an incident: acknowledged, or resolved."""

from typing import Any

from lily.api.calls import Call
from lily.api.incidents.visible import Object, changeable_incident, visible_incident
from lily.api.ingest.records import incident_record
from lily.incidents import IncidentEvent, IncidentStatement, State
from lily.incidents.statements import BY_A_PERSON, read_statement
from lily.model import clock, ids
from lily.model.records import Position
from lily.observe import traces
from lily.store.postgres.incidents.merging import LOCK
from lily.store.postgres.incidents.reader import is_merged
from lily.store.postgres.reactions.ledger import progress_topic

WAIT_SECONDS = 5.0


async def state(call: Call, incident_id: str, new: State, note: str) -> tuple[Object, bool]:
    """Appends the statement to the log, and waits a moment until it is merged. Returns the incident, and whether it
    has the statement. Raises Declined with 404 or 403, LogFull or LogUnavailable if it is not in the log."""
    known = await changeable_incident(call, incident_id)
    event = _event(call, known, new, note)
    call.services.quotas.write(call.tenant)
    record = incident_record(event)
    call.services.quotas.written(call.tenant, 1, len(record[2]))
    positions = await call.services.log.append([record])
    merged = await _is_merged(call, event, positions)
    return await visible_incident(call, known["incident_id"]), merged


def _event(call: Call, known: dict[str, Any], new: State, note: str) -> IncidentEvent:
    """Raises Refused for a note that cannot be stored."""
    said = IncidentStatement(
        known["source"], known["external_id"], new, rank=BY_A_PERSON, by=call.principal.name, note=note
    )
    statement = read_statement(said.as_data())
    return IncidentEvent(
        ids.event_id(),
        clock.now(),
        call.tenant,
        statement,
        correlation=call.correlation,
        trace=traces.traceparent(),
    )


async def _is_merged(call: Call, event: IncidentEvent, positions: list[Position]) -> bool:
    """The worker may have set the tenant's events aside: then its offsets move on without them."""
    read = [at._replace(topic=progress_topic(at.topic, LOCK)) for at in positions]
    if not await call.services.waiter.applied(read, WAIT_SECONDS):
        return False
    return await is_merged(call.services.database, call.tenant, event.incident_id, event.id)
