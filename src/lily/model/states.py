"""What is known of an asset: its layers and the times of its events. Two states of one asset join into one.

`join` is commutative, associative and idempotent, as the merging of layers is. So a state may be kept in pieces that
were never brought together, each made from some of the events, and whoever reads joins them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lily.model.assets import LayerName
from lily.model.events import AssetEvent
from lily.model.layers import Layer, merge


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

    def join(self, other: "AssetState") -> None:
        """Takes in what another state of the same asset knows."""
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        for name, layer in other.layers.items():
            known = self.layers.get(name)
            self.layers[name] = layer if known is None else merge(known, layer)


def joined(states: Iterable[AssetState]) -> dict[tuple[str, str], AssetState]:
    """One state for each tenant and id. The states given are used up."""
    found: dict[tuple[str, str], AssetState] = {}
    for state in states:
        known = found.setdefault((state.tenant, state.id), state)
        if known is not state:
            known.join(state)
    return found
