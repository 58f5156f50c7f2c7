"""Whether a statement or a claim stops protective tags on an edge. The API and the pipeline use the same functions."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from lily.model.assets import DELETED
from lily.model.edges import EdgeEvent, EdgeKey, EdgeLayer, EdgeStatement
from lily.model.errors import Problem
from lily.model.layers import Layer, merge

EdgeEffect = Literal["edge.deleted", "edge.blocked", "edge.masked"]  # also the actions of the audit
_VERBS: dict[EdgeEffect, str] = {"edge.deleted": "deleting", "edge.blocked": "blocking", "edge.masked": "masking"}


class EffectiveEdge(NamedTuple):
    """What layers and claims amount to. The generated columns of the table `edges` are computed by the same rules."""

    propagates: bool
    masking: bool
    is_deleted: bool


@dataclass(slots=True)
class EdgeState:
    """An edge as it is stored. `tags` are the protective tags that pass it, each with whether masking stops it."""

    layers: dict[EdgeLayer, Layer]
    claimed: bool
    claims_mask: bool
    tags: dict[str, bool] = field(default_factory=dict)

    @property
    def effective(self) -> EffectiveEdge:
        source = self.layers["source"].fields if "source" in self.layers else {}
        user = self.layers["user"].fields if "user" in self.layers else {}
        unstated = source.get(DELETED, True)
        masked = (not self.claimed or self.claims_mask) and (
            source.get("masking", False) or (self.claimed and unstated)
        )
        return EffectiveEdge(
            user.get("propagates", source.get("propagates", True)),
            user.get("masking", masked),
            user.get(DELETED, not self.claimed and unstated),
        )

    def effect_of(self, event: EdgeEvent) -> EdgeEffect | None:
        """How the event stops tags that pass now; None if all of them still pass."""
        return self._effect(self._after(event)) if self.tags else None

    def effect_of_claims(self, *, claimed: bool) -> EdgeEffect | None:
        """The same for a change of claims: none is left, or (`claimed`) all that are left mask."""
        return self._effect(EdgeState(self.layers, claimed, claims_mask=claimed)) if self.tags else None

    def merge(self, event: EdgeEvent) -> None:
        self.layers = self._after(event).layers

    def _after(self, event: EdgeEvent) -> "EdgeState":
        name, stated = event.statement.layer, event.layer()
        known = self.layers.get(name)
        merged: dict[EdgeLayer, Layer] = {name: stated if known is None else merge(known, stated)}
        return EdgeState(self.layers | merged, self.claimed, self.claims_mask)

    def _effect(self, other: "EdgeState") -> EdgeEffect | None:
        before, after = self.effective, other.effective
        if before.is_deleted or not before.propagates:
            return None  # nothing passes now: an earlier, authorised change stopped it
        if after.is_deleted:
            return "edge.deleted"
        if not after.propagates:
            return "edge.blocked"
        return "edge.masked" if after.masking and not before.masking and any(self.tags.values()) else None


def may_stop_tags(statement: EdgeStatement) -> bool:
    """Whether a statement of this kind can stop a tag; most cannot, and need no look-up."""
    settings = statement.settings
    return (
        statement.operation == "delete"
        or settings.get("propagates", True) is not True
        or settings.get("masking", False) is not False
    )


def describe(effect: EdgeEffect) -> str:
    return f"{_VERBS[effect]} an edge that a protective tag passes"


def edge_name(key: EdgeKey) -> str:
    return f"{key.from_id}→{key.to_id} {key.type}"


def protected_edge(effect: EdgeEffect, key: EdgeKey) -> Problem:
    return Problem("PROTECTED", f"{describe(effect)} requires the scope policy:write", edge_name(key))
