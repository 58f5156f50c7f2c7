"""Events as CloudEvents 1.0: the envelope that carries a statement about an asset through the log."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from lily.model import clock, ids
from lily.model.errors import Problem, Refused
from lily.model.layers import Layer
from lily.model.statements import Statement, read_statement

SPEC_VERSION = "1.0"
ASSET_STATED = "lily.asset.stated"
ASSET_CHANGED = "lily.asset.changed"
SOURCE = "/lily"
MAX_EVENT_ID = 64
FUTURE_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class AssetEvent:
    """One statement about one asset, at one time, with where it came from."""

    id: str
    time: str
    tenant: str
    statement: Statement
    correlation: str = ""
    trace: str = ""
    asset_id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "asset_id", ids.asset_id(self.tenant, self.statement.qualified_name))

    @property
    def clock(self) -> str:
        return clock.clock(self.time, self.id)

    def layer(self) -> Layer:
        return self.statement.as_layer(self.tenant, self.clock)

    def as_cloudevent(self) -> dict[str, Any]:
        event = {
            "specversion": SPEC_VERSION,
            "id": self.id,
            "source": SOURCE,
            "type": ASSET_STATED,
            "time": self.time,
            "tenantid": self.tenant,
            "subject": self.asset_id,
            "datacontenttype": "application/json",
            "data": self.statement.as_data(),
        }
        if self.correlation:
            event["correlationid"] = self.correlation
        if self.trace:
            event["traceparent"] = self.trace
        return event


def read_event(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> AssetEvent:
    """Checks a decoded CloudEvent against the contract. `received` is when the log took it: a replay decides alike."""
    if not isinstance(event, dict):
        raise Refused(Problem("INVALID_ENVELOPE", "an event is a JSON object", ""))
    if event.get("specversion") != SPEC_VERSION or event.get("type") != ASSET_STATED:
        raise Refused(
            Problem("INVALID_ENVELOPE", f"expected a CloudEvent {SPEC_VERSION} of type {ASSET_STATED}", "type")
        )
    event_id, tenant, data = event.get("id"), event.get("tenantid"), event.get("data")
    if not _is_token(event_id):
        raise Refused(Problem("INVALID_ENVELOPE", f"id must be 1 to {MAX_EVENT_ID} printable ASCII characters", "id"))
    if not _is_token(tenant):
        raise Refused(Problem("INVALID_ENVELOPE", "tenantid must name the tenant", "tenantid"))
    if not isinstance(data, dict):
        raise Refused(Problem("INVALID_ENVELOPE", "data must be an object", "data"))
    time = read_time(event.get("time"), received=received, skew=skew)
    statement = read_statement(data, tenant=str(tenant))
    return AssetEvent(
        str(event_id),
        time,
        str(tenant),
        statement,
        _short(event.get("correlationid")),
        _short(event.get("traceparent")),
    )


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
