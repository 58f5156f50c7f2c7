"""Receipts hold everything that is needed to look up the state of a write later, so none has to be stored."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, TypeAdapter

from lily.api.http import sealed
from lily.model import clock
from lily.model.assets import LayerName
from lily.model.edge_layers import CONDUCTS
from lily.model.events import AssetEvent
from lily.model.held import HELD_FIELDS
from lily.model.layers import TAGS, Layer
from lily.model.records import Position

_PURPOSE = "receipt"
KEPT = (*HELD_FIELDS, CONDUCTS)
_LAST_MILLIS = 253_402_300_799_999  # the end of the year 9999
_Uuid = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
_Count = Annotated[int, Field(ge=0, lt=2**31)]
_Offset = Annotated[int, Field(ge=0, lt=2**63)]
_SHAPE: TypeAdapter[tuple[list[tuple[str, int, int]], tuple[str, LayerName, str, str, int] | None, bool, str]] = (
    TypeAdapter(tuple[list[tuple[str, _Count, _Offset]], tuple[_Uuid, LayerName, _Uuid, str, _Count] | None, bool, str])
)


@dataclass(frozen=True, slots=True)
class Stated:
    """What one event stated: the layer of an asset, and how many values."""

    asset_id: str
    layer: LayerName
    event_id: str
    time: str
    count: int

    @classmethod
    def by(cls, event: AssetEvent) -> "Stated":
        return cls(event.asset_id, event.statement.layer, event.id, event.time, standing(event.layer(), event.clock))

    @property
    def clock(self) -> str:
        return clock.clock(self.time, self.event_id)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The position of a write in the log. A write of many statements has the last position of each partition, and no
    asset."""

    positions: tuple[Position, ...]
    stated: Stated | None = None
    propagates: bool = False  # part of it may propagate: then waiting for the write includes propagation
    correlation: str = ""  # of a write of many statements

    def seal(self, tenant: str) -> str:
        stated = self.stated
        about = [stated.asset_id, stated.layer, stated.event_id, stated.time, stated.count] if stated else None
        return sealed.seal(
            [[list(at) for at in self.positions], about, self.propagates, self.correlation], _PURPOSE, tenant
        )

    @property
    def started(self) -> str | None:
        """When it was accepted: an event id begins with the milliseconds of its creation."""
        if self.stated is None:
            return None
        millis = UUID(self.stated.event_id).int >> 80
        if millis > _LAST_MILLIS:
            return None  # Lily did not make this id
        return clock.stamp(datetime.fromtimestamp(millis / 1000, UTC))


def unseal(text: str, tenant: str) -> Receipt:
    """Raises ValueError unless it is a receipt of this tenant."""
    positions, about, propagates, correlation = sealed.unseal(text, _SHAPE, _PURPOSE, tenant)
    if about is not None and len(positions) != 1:
        raise ValueError("a receipt of one statement has exactly one position")
    return Receipt(tuple(Position(*at) for at in positions), Stated(*about) if about else None, propagates, correlation)


def standing(layer: Layer, at: str) -> int:
    """The number of values in a layer that were stated at this clock.

    A clock belongs to one event, so an event is current exactly if the layer has as many of its values as it stated.
    That is `layers.holds`, without having to store the values.
    """
    clocks: dict[str, Any] = layer.clocks or {}
    fields = (layer.fields.keys() | clocks.keys()) - {TAGS}
    # What is held, or only conducts, has the clock of the statement that lost.
    count = [clocks.get(key, layer.at) for key in fields if not key.startswith(KEPT)].count(at)
    if TAGS in clocks:
        return count + list(clocks[TAGS].values()).count(at)
    if TAGS in layer.fields and layer.at == at:
        return count + 1 + len(layer.fields[TAGS])
    return count
