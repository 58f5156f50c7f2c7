"""The event that carries a statement about an asset through the log."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from lily.model import clock, ids
from lily.model.envelopes import FUTURE_SKEW, cloud_event, read_envelope
from lily.model.layers import Layer
from lily.model.statements import Statement, read_statement

ASSET_STATED = "lily.asset.stated"
ASSET_CHANGED = "lily.asset.changed"


@dataclass(frozen=True, slots=True)
class LogEvent:
    """What every event in the log has, in the envelope of a CloudEvent."""

    id: str
    time: str
    tenant: str
    correlation: str = field(default="", kw_only=True)
    trace: str = field(default="", kw_only=True)

    @property
    def clock(self) -> str:
        """Orders this event among all others: by time, then by id."""
        return clock.clock(self.time, self.id)

    @property
    def has_authority(self) -> bool:
        """Whether it claims that its author had `policy:write`. In the log such a claim is signed."""
        return False

    def enclose(self, type_: str, subject: str, data: dict[str, Any]) -> dict[str, Any]:
        """The data in this event's envelope."""
        return cloud_event(
            type_,
            event_id=self.id,
            time=self.time,
            tenant=self.tenant,
            subject=subject,
            data=data,
            correlation=self.correlation,
            trace=self.trace,
        )


@dataclass(frozen=True, slots=True)
class AssetEvent(LogEvent):
    """One statement about one asset."""

    statement: Statement
    asset_id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "asset_id", ids.asset_id(self.tenant, self.statement.qualified_name))

    @property
    def key(self) -> bytes:
        """The record's key, which keeps all events of an asset in one partition."""
        return f"{self.tenant}/{self.asset_id}".encode()

    @property
    def has_authority(self) -> bool:
        return self.statement.authorised

    def without_authority(self) -> "AssetEvent":
        return replace(self, statement=self.statement._replace(authorised=False))

    def layer(self) -> Layer:
        return self.statement.as_layer(self.tenant, self.clock)

    def as_cloudevent(self) -> dict[str, Any]:
        return self.enclose(ASSET_STATED, self.asset_id, self.statement.as_data())


def read_event(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> AssetEvent:
    """Validates a decoded CloudEvent. Raises Refused with every problem found."""
    envelope, data = read_envelope(event, ASSET_STATED, received=received, skew=skew)
    statement = read_statement(data, tenant=envelope.tenant)
    event_id, time, tenant, correlation, trace = envelope
    return AssetEvent(event_id, time, tenant, statement, correlation=correlation, trace=trace)
