"""What a principal must not see in a list, as sets that a store can put into one WHERE clause."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lily.policy.names import EVERY, EVERYTHING
from lily.policy.policies import Policy
from lily.policy.requests import Context, Facts, Principal
from lily.policy.tables import Table


@dataclass(frozen=True, slots=True)
class AssetSet:
    """The assets that match at least one of these. Names are folded (`names.fold`, `tag_key`).

    `assets` and `names` include all descendants of the assets that they name: an asset matches by its own id or
    qualified name, or by that of an ancestor.
    """

    everything: bool = False
    assets: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    any_tag: bool = False
    entity_types: frozenset[str] = frozenset()
    data_sources: frozenset[str] = frozenset()
    any_data_source: bool = False
    keys: frozenset[str] = frozenset()  # the same, as keys of `Facts`

    def holds(self, facts: Facts) -> bool:
        """Whether the asset is in the set."""
        return self.everything or not self.keys.isdisjoint(facts.keys)


NO_ASSETS = AssetSet()


@dataclass(frozen=True, slots=True)
class Residual:
    """A denial that depends on attributes of each asset: hidden if in the set and each attribute equals one of its
    values, or has an item that does (`Conditions.asset`), or if the attributes are not known."""

    policy: Policy
    assets: AssetSet
    attributes: Mapping[str, tuple[Any, ...]]

    def hides(self, facts: Facts) -> bool:
        conditions = self.policy.conditions
        return self.assets.holds(facts) and (conditions is None or conditions.asset_outcome(facts) is not False)


@dataclass(frozen=True, slots=True)
class Visibility:
    """Everything is visible that is neither in `hidden` nor hidden by one of `residuals`."""

    hidden: AssetSet = NO_ASSETS
    residuals: tuple[Residual, ...] = ()

    @property
    def unrestricted(self) -> bool:
        """Whether nothing is hidden: the fast case, without a WHERE clause."""
        return not (self.hidden.everything or self.hidden.keys or self.residuals)

    def hides(self, facts: Facts) -> bool:
        """The meaning, for one asset: whether `PolicyIndex.decide` denies because of a policy."""
        return self.hidden.holds(facts) or any(residual.hides(facts) for residual in self.residuals)


UNRESTRICTED = Visibility()


def visible(table: Table, principal: Principal, context: Context) -> Visibility:
    """What the deny policies of a table hide. A condition that is unknown hides."""
    denials = [policy for policy in table.policies if policy.effect == "deny"]
    if not denials:
        return UNRESTRICTED
    hidden: list[Policy] = []
    residuals: list[Residual] = []
    for policy in denials:
        conditions = policy.conditions
        if conditions is not None and conditions.outcome_without_asset(principal, context) is False:
            continue
        if conditions is not None and conditions.asset:
            residuals.append(Residual(policy, asset_set([policy]), conditions.asset))
        else:
            hidden.append(policy)
    return Visibility(asset_set(hidden), tuple(residuals))


def asset_set(policies: Iterable[Policy]) -> AssetSet:
    """The assets that any of the policies names."""
    keys = {key for policy in policies for resource in policy.resources for key in resource.keys}
    everything = EVERYTHING in keys
    keys.discard(EVERYTHING)
    by_kind: dict[str, set[str]] = {}
    for key in keys:
        by_kind.setdefault(key[0], set()).add(key[2:])
    found = {kind: frozenset(by_kind.get(kind, set()) - {EVERY}) for kind in "ints"}
    return AssetSet(
        everything,
        assets=found["i"],
        names=found["n"],
        tags=found["t"],
        any_tag=EVERY in by_kind.get("t", ()),
        entity_types=frozenset(by_kind.get("e", ())),
        data_sources=found["s"],
        any_data_source=EVERY in by_kind.get("s", ()),
        keys=frozenset(keys),
    )
