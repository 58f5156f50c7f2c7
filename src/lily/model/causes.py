"""The cause of a change: which event made it, and on whose behalf. History and change events show it."""

from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.events import AssetEvent


def cause_of(event: AssetEvent | EdgeEvent | ClaimsEvent) -> dict[str, str]:
    """Only what the event has: most have no correlation and no trace."""
    by = event.by if isinstance(event, ClaimsEvent) else event.statement.by
    cause = {"id": event.id, "time": event.time, "by": by, "correlation": event.correlation, "trace": event.trace}
    return {key: value for key, value in cause.items() if value}
