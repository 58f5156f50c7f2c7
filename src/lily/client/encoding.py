"""Request bodies as JSON, and the time of an event."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from lily.client.errors import Refused
from lily.model import clock
from lily.model.errors import Problem


def encoded(body: Any) -> bytes:
    """Raises Refused if the body cannot be written as JSON, as the API would."""
    try:
        return orjson.dumps(body, default=_as_dict)
    except TypeError as error:
        raise Refused(0, [Problem("INVALID_TYPE", f"The body cannot be written as JSON: {error}.", "body")]) from error


def stamped(time: str | datetime | None) -> str:
    """The event's time; the current time if none is given."""
    if time is None:
        return clock.now()
    if isinstance(time, str):
        return time
    if time.tzinfo is None:
        description = f"{time} has no time zone. Add one, as in datetime.now(UTC)."
        raise Refused(0, [Problem("INVALID_TIME", description, "time")])
    return clock.stamp(time)


def _as_dict(value: Any) -> Any:
    """orjson writes dicts only; any other mapping will do."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"it contains a value of type {type(value).__name__}")
