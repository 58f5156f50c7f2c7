"""What a dead letter of the worker shows of an error to the tenant."""

from lily.model import ids
from lily.model.errors import LilyError


def shown_cause(error: Exception) -> tuple[str, str]:
    """The cause to show, and the correlation id to log the error with.

    The message of a LilyError is written for callers. Any other can quote statements, addresses and arguments, so the
    tenant sees the correlation id only.
    """
    correlation = ids.event_id()
    if isinstance(error, LilyError):
        return f"{type(error).__name__}: {error}", correlation
    return f"internal error; search the worker's log for the correlation id {correlation}", correlation
