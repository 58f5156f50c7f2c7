"""What the layers and claims of an edge amount to: what is shown, and what protective tags follow.

The generated columns of the table `edges` are computed by the same rules.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from lily.model.assets import DELETED
from lily.model.edge_layers import MASKING, PROPAGATES, ConductingEdge, conducting
from lily.model.edges import EdgeKey, EdgeLayer
from lily.model.layers import Layer


class Conduction(IntEnum):
    """What of the tags that reach the start of an edge passes it."""

    NOTHING = 0
    MASKED = 1  # what masking does not stop
    ALL = 2


class EffectiveEdge(NamedTuple):
    propagates: bool
    masking: bool
    is_deleted: bool


class EdgeClaims(NamedTuple):
    """What the claims on an edge amount to. Held claims have ended without authority (`lily.lineage.held_claims`)."""

    claimed: bool = False
    mask: bool = False  # all claims mask the edge
    mask_by_authority: bool = False  # and all of them by authority
    held: Conduction = Conduction.NOTHING


NO_CLAIMS = EdgeClaims()


class EdgeState(NamedTuple):
    layers: Mapping[EdgeLayer, Layer]
    claims: EdgeClaims = NO_CLAIMS

    @property
    def effective(self) -> EffectiveEdge:
        source = self.layers["source"].fields if "source" in self.layers else {}
        user = self.layers["user"].fields if "user" in self.layers else {}
        unstated = source.get(DELETED, True)
        masked = (not self.claims.claimed or self.claims.mask) and (
            source.get(MASKING, False) or (self.claims.claimed and unstated)
        )
        return EffectiveEdge(
            user.get(PROPAGATES, source.get(PROPAGATES, True)),
            user.get(MASKING, masked),
            user.get(DELETED, not self.claims.claimed and unstated),
        )

    @property
    def conduction(self) -> Conduction:
        """What a person decides comes first, as for what is shown. Everything else that states the edge conducts by
        itself: who masks an edge without authority masks what they state, and not what others do."""
        user, source = conducting(self.layers.get("user")), conducting(self.layers.get("source"))
        claimed = self.claims.claimed or self.claims.held > Conduction.NOTHING
        exists = (source.deleted is False or claimed) if user.deleted is None else not user.deleted
        propagates = _first(user.propagates, source.propagates, True)
        if not exists or not propagates:
            return Conduction.NOTHING
        masked = user.masking if user.masking is not None else not self._is_clear(user, source, claimed=claimed)
        return Conduction.MASKED if masked else Conduction.ALL

    @property
    def is_held(self) -> bool:
        """Whether it conducts more than it shows."""
        shown, conduction = self.effective, self.conduction
        ended = shown.is_deleted or not shown.propagates
        return (ended and conduction > Conduction.NOTHING) or (shown.masking and conduction == Conduction.ALL)

    def _is_clear(self, user: ConductingEdge, source: ConductingEdge, *, claimed: bool) -> bool:
        """Whether something states the edge unmasked, where a person has not decided about masking. A person's edge
        is unmasked unless everything else masks it, by authority."""
        by_source, claims = source.deleted is False, self.claims
        if by_source and not (source.never_open if source.masking is None else source.masking):
            return True
        if claims.held == Conduction.ALL or (claims.claimed and not claims.mask):
            return True
        others_mask = (source.masking is True or (claimed and not by_source)) and (
            not claimed or (claims.mask_by_authority and claims.held == Conduction.NOTHING)
        )
        return user.deleted is False and not user.never_open and not others_mask


def edge_name(key: EdgeKey) -> str:
    return f"{key.from_id}→{key.to_id} {key.type}"


def _first(*values: bool | None) -> bool:
    return next(value for value in values if value is not None)
