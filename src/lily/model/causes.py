"""The cause of a change: which event made it, and on whose behalf. History and change events show it."""

from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.events import AssetEvent


def cause_of(event: AssetEvent | EdgeEvent | ClaimsEvent) -> dict[str, str]:
    """Only what the event has: most have no correlation and no trace."""
    cause = {"id": event.id, "time": event.time}
    if by := event.by if isinstance(event, ClaimsEvent) else event.statement.by:
        cause["by"] = by
    if event.correlation:
        cause["correlation"] = event.correlation
    if event.trace:
        cause["trace"] = event.trace
    return cause
