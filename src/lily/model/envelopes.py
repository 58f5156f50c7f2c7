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
    id: str
    time: str
    tenant: str
    correlation: str = ""
    trace: str = ""


def envelope(type_: str, head: Envelope, subject: str, data: dict[str, Any]) -> dict[str, Any]:
    event = {
        "specversion": SPEC_VERSION,
        "id": head.id,
        "source": SOURCE,
        "type": type_,
        "time": head.time,
        "tenantid": head.tenant,
        "subject": subject,
        "datacontenttype": "application/json",
        "data": data,
    }
    if head.correlation:
        event["correlationid"] = head.correlation
    if head.trace:
        event["traceparent"] = head.trace
    return event


def read_envelope(
    event: Any, type_: str, *, received: str, skew: timedelta = FUTURE_SKEW
) -> tuple[Envelope, dict[str, Any]]:
    """The envelope of a decoded CloudEvent and its data. `received` is when the log took it: a replay decides alike."""
    if not isinstance(event, dict):
        raise Refused(Problem("INVALID_ENVELOPE", "an event is a JSON object", ""))
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
    correlation, trace = _short(event.get("correlationid")), _short(event.get("traceparent"))
    return Envelope(str(event_id), time, str(tenant), correlation, trace), data


def read_time(given: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> str:
    """The time an event claims, in fixed width, or else when it was received. Raises Refused if it is in the future."""
    if given is None:
        return received
    try:
        time = clock.normalise_time(given)
    except (ValueError, TypeError) as error:
        raise Refused(Problem("INVALID_TIME", f"time {str(given)[:64]!r}: {error}", "time")) from error
    if time > received and clock.parse(time) - clock.parse(received) > skew:
        minutes = int(skew.total_seconds() // 60)
        raise Refused(Problem("TIME_IN_FUTURE", f"time {time} is more than {minutes} minutes in the future", "time"))
    return time


def _is_token(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_EVENT_ID and value.isascii() and value.isprintable()


def _short(value: Any) -> str:
    """What only accompanies an event is dropped where it is malformed, rather than refusing the event for it."""
    return value if isinstance(value, str) and len(value) <= 128 and value.isascii() and value.isprintable() else ""
