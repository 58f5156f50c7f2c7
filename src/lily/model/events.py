"""A statement about an asset, on its way through the log."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from lily.model import clock, ids
from lily.model.envelopes import FUTURE_SKEW, Envelope, envelope, read_envelope
from lily.model.layers import Layer
from lily.model.statements import Statement, read_statement

ASSET_STATED = "lily.asset.stated"
ASSET_CHANGED = "lily.asset.changed"


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
    def key(self) -> bytes:
        """Events of one asset stay in one partition."""
        return f"{self.tenant}/{self.asset_id}".encode()

    @property
    def clock(self) -> str:
        return clock.clock(self.time, self.id)

    def layer(self) -> Layer:
        return self.statement.as_layer(self.tenant, self.clock)

    def as_cloudevent(self) -> dict[str, Any]:
        head = Envelope(self.id, self.time, self.tenant, self.correlation, self.trace)
        return envelope(ASSET_STATED, head, self.asset_id, self.statement.as_data())


def read_event(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> AssetEvent:
    """Checks a decoded CloudEvent against the contract."""
    head, data = read_envelope(event, ASSET_STATED, received=received, skew=skew)
    statement = read_statement(data, tenant=head.tenant)
    return AssetEvent(head.id, head.time, head.tenant, statement, head.correlation, head.trace)
