"""The state of an asset: its layers, and the times of its first and last event.

`merge` is commutative, associative and idempotent, like the merge of layers. So a state may be stored in pieces, each
made from some of the events, and a reader merges the pieces it finds.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lily.model.assets import LayerName
from lily.model.events import AssetEvent
from lily.model.layers import Layer, merge
from lily.model.plain_events import PlainEvent


@dataclass(slots=True)
class AssetState:
    tenant: str
    id: str
    qualified_name: str
    first: str  # the smallest event time
    last: str  # the largest
    layers: dict[LayerName, Layer] = field(default_factory=dict)

    @classmethod
    def of(cls, event: AssetEvent) -> "AssetState":
        statement = event.statement
        return cls(
            event.tenant,
            event.asset_id,
            statement.qualified_name,
            event.time,
            event.time,
            {statement.layer: event.layer()},
        )

    def merge(self, other: "AssetState") -> None:
        """Merges another state of the same asset into this one."""
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        for name, layer in other.layers.items():
            known = self.layers.get(name)
            self.layers[name] = layer if known is None else merge(known, layer)


def merge_states(states: Iterable[AssetState]) -> dict[tuple[str, str], AssetState]:
    """One state per tenant and id. Modifies the given states."""
    merged: dict[tuple[str, str], AssetState] = {}
    for state in states:
        known = merged.setdefault((state.tenant, state.id), state)
        if known is not state:
            known.merge(state)
    return merged


def merge_pieces(pieces: Iterable[AssetState | PlainEvent]) -> list[AssetState | PlainEvent]:
    """`merge_states` of these states and of those that the events make, in this order. A plain event that is all that
    is stated of its asset stays as it is."""
    merged: dict[tuple[str, str], AssetState | PlainEvent] = {}
    for piece in pieces:
        key = piece.tenant, piece.asset_id if isinstance(piece, PlainEvent) else piece.id
        known = merged.setdefault(key, piece)
        if known is piece:
            continue
        state = merged[key] = _as_state(known)
        state.merge(_as_state(piece))
    return list(merged.values())


def _as_state(piece: AssetState | PlainEvent) -> AssetState:
    return AssetState.of(piece.in_full()) if isinstance(piece, PlainEvent) else piece
