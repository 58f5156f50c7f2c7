"""The answer to a check."""

from dataclasses import dataclass

from lily.policy.masks import Mask
from lily.policy.policies import Effect
from lily.policy.row_filters import RowFilter

DISABLED = "the user is disabled"  # the reason of a denial that no setting lifts


@dataclass(frozen=True, slots=True)
class Decision:
    """`allow`: without restriction. `mask`: allowed, and the value is masked; row filters may apply too.
    `row-filter`: allowed for the rows that pass every one of the row filters. `deny`: not at all.

    `policy_id` is the policy that decided, None where no policy did: the default of the plane.
    """

    effect: Effect
    policy_id: str | None
    reason: str
    mask: Mask | None = None
    row_filters: tuple[RowFilter, ...] = ()

    @property
    def allowed(self) -> bool:
        return self.effect != "deny"
