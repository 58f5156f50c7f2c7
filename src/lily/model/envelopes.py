"""The envelope of every event: a CloudEvent 1.0 with the extension attribute `tenantid`."""

from datetime import timedelta
from typing import Any, NamedTuple

from lily.model import clock
from lily.model.errors import Problem, Refused

SPEC_VERSION = "1.0"
SOURCE = "/lily"
MAX_EVENT_ID = 64
FUTURE_SKEW = timedelta(minutes=5)


class Envelope(NamedTuple):
    """What Lily reads from the envelope of an event."""

    id: str
    time: str
    tenant: str
    correlation: str = ""
    trace: str = ""


def cloud_event(
    type_: str,
    *,
    event_id: str,
    time: str,
    tenant: str,
    data: dict[str, Any],
    subject: str = "",
    correlation: str = "",
    trace: str = "",
) -> dict[str, Any]:
    """The one place that builds an envelope. Optional attributes are left out where they are empty."""
    event = {
        "specversion": SPEC_VERSION,
        "id": event_id,
        "source": SOURCE,
        "type": type_,
        "time": time,
        "tenantid": tenant,
        "datacontenttype": "application/json",
        "data": data,
    }
    if subject:
        event["subject"] = subject
    if correlation:
        event["correlationid"] = correlation
    if trace:
        event["traceparent"] = trace
    return event


def read_envelope(
    event: Any, type_: str, *, received: str, skew: timedelta = FUTURE_SKEW
) -> tuple[Envelope, dict[str, Any]]:
    """The envelope and the data of a decoded CloudEvent. Raises Refused.

    `received` is the log's timestamp of the record, not the present time, so a replay comes to the same result.
    """
    if not isinstance(event, dict):
        raise Refused(Problem("INVALID_ENVELOPE", "an event must be a JSON object", ""))
    if event.get("specversion") != SPEC_VERSION or event.get("type") != type_:
        raise Refused(Problem("INVALID_ENVELOPE", f"expected a CloudEvent {SPEC_VERSION} of type {type_}", "type"))
    event_id, tenant, data = event.get("id"), event.get("tenantid"), event.get("data")
    if not _is_token(event_id):
        raise Refused(Problem("INVALID_ENVELOPE", f"id must be 1 to {MAX_EVENT_ID} printable ASCII characters", "id"))
    if not _is_token(tenant):
        raise Refused(Problem("INVALID_ENVELOPE", "tenantid must name the tenant", "tenantid"))
    if not isinstance(data, dict):
        raise Refused(Problem("INVALID_ENVELOPE", "data must be an object", "data"))
    time = read_time(event.get("time"), received=received, skew=skew)
    correlation, trace = event.get("correlationid"), event.get("traceparent")
    if correlation is not None or trace is not None:
        return Envelope(str(event_id), time, str(tenant), _short(correlation), _short(trace)), data
    return Envelope(str(event_id), time, str(tenant)), data


def read_time(given: Any, *, received: str, skew: timedelta = FUTURE_SKEW, entity: str = "time") -> str:
    """The time that an event states, in fixed width; `received` if it states none. Raises Refused for a time in the
    future. `entity` is what the sender calls it."""
    if given is None:
        return received
    try:
        time = clock.normalise_time(given)
    except (ValueError, TypeError) as error:
        raise Refused(Problem("INVALID_TIME", f"{entity} {str(given)[:64]!r}: {error}", entity)) from error
    if time > received and clock.parse(time) - clock.parse(received) > skew:
        minutes = int(skew.total_seconds() // 60)
        raise Refused(
            Problem(
                "TIME_IN_FUTURE",
                f"{entity} {time} is more than {minutes} minutes in the future; check the sender's clock",
                entity,
            )
        )
    return time


def _is_token(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_EVENT_ID and value.isascii() and value.isprintable()


def _short(value: Any) -> str:
    """A malformed correlation id or trace is dropped: it only accompanies the event, which is not refused for it."""
    return value if isinstance(value, str) and len(value) <= 128 and value.isascii() and value.isprintable() else ""
