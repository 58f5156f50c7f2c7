"""The policies of one set of subjects, for one action and plane, arranged so that a decision is a few look-ups.

Each policy is a bit. A resource key maps to the bits of the policies that name it, so the policies that match an asset
are the union over its keys. The lowest bit is the policy that is considered first (`Policy.order`).
"""

from collections.abc import Iterable, Iterator, Sequence

from lily.policy.conditions import NO_CONDITIONS
from lily.policy.decisions import DISABLED, Decision
from lily.policy.names import EVERYTHING
from lily.policy.policies import Action, Effect, Plane, Policy
from lily.policy.requests import Context, Facts, Principal

MAX_DECISIONS = 4096  # kept per table: one for each combination of policies that an asset has matched


class Table:
    """Safe to share between threads: what is kept is written whole, and computed twice at worst."""

    def __init__(self, policies: Iterable[Policy], action: Action, plane: Plane) -> None:
        self.action, self.plane = action, plane
        chosen = [policy for policy in policies if action in policy.actions and plane in policy.applies_to]
        self.policies: Sequence[Policy] = sorted(chosen, key=lambda policy: policy.order)
        self._by_key: dict[str, int] = {}
        for number, policy in enumerate(self.policies):
            for key in (key for resource in policy.resources for key in resource.keys):
                self._by_key[key] = self._by_key.get(key, 0) | 1 << number
        self._everywhere = self._by_key.pop(EVERYTHING, 0)
        self._keys = frozenset(self._by_key)
        self._conditions = [policy.conditions or NO_CONDITIONS for policy in self.policies]
        self.depends_on_time = any(one.depends_on_time for one in self._conditions)
        self._conditional = _bits(policy.conditions is not None for policy in self.policies)
        self._deny, self._allow = self._with_effect("deny"), self._with_effect("allow")
        self._mask, self._row_filter = self._with_effect("mask"), self._with_effect("row-filter")
        self._decisions: dict[int, Decision] = {}
        self._restrictions: dict[int, Decision] = {}

    def decide(self, principal: Principal, facts: Facts, context: Context) -> Decision:
        bits = self._everywhere
        by_key = self._by_key
        for key in facts.keys & self._keys:
            bits |= by_key[key]
        if bits & self._conditional:
            bits = self._applicable(bits, principal, facts, context)
        decision = self._decisions.get(bits)
        return self._decided(bits) if decision is None else decision

    def restrictions(self, principal: Principal, facts: Facts, context: Context) -> Decision:
        """What policies restrict of the asset, as if something allowed it."""
        bits = self._everywhere
        for key in facts.keys & self._keys:
            bits |= self._by_key[key]
        if bits & self._conditional:
            bits = self._applicable(bits, principal, facts, context)
        bits &= ~self._allow
        decision = self._restrictions.get(bits)
        if decision is None:
            decision = self._narrowed(bits) or Decision("allow", None, f"no policy restricts {self.action}")
            _keep(self._restrictions, bits, decision)
        return decision

    def matching(self, facts: Facts) -> Iterator[Policy]:
        """The policies that name the asset, whether or not their conditions hold, the first to consider first."""
        bits = self._everywhere
        for key in facts.keys:
            bits |= self._by_key.get(key, 0)
        return self._policies(bits)

    def _applicable(self, bits: int, principal: Principal, facts: Facts, context: Context) -> int:
        """The matching policies whose conditions let them apply; of several denials only the first."""
        conditions = self._conditions
        denials = bits & self._deny
        certain = denials & ~self._conditional
        first = certain & -certain
        doubtful = denials & self._conditional & (first - 1)  # without a certain one: all of them
        while doubtful:
            bit = doubtful & -doubtful
            if conditions[bit.bit_length() - 1].outcome(principal, facts, context) is not False:
                return bit
            doubtful ^= bit
        if first:
            return first
        bits ^= denials
        doubtful = bits & self._conditional
        while doubtful:
            bit = doubtful & -doubtful
            outcome = conditions[bit.bit_length() - 1].outcome(principal, facts, context)
            if not outcome and (outcome is False or bit & self._allow):
                bits ^= bit
            doubtful ^= bit
        return bits

    def _decided(self, bits: int) -> Decision:
        decision = self._on_metadata(bits) if self.plane == "metadata" else self._on_data(bits)
        _keep(self._decisions, bits, decision)
        return decision

    def _on_metadata(self, bits: int) -> Decision:
        if bits & self._deny:
            return self._denied(bits)
        if bits & self._allow:
            return self._allowed(bits)
        return Decision("allow", None, f"no policy denies {self.action} of its metadata")

    def _on_data(self, bits: int) -> Decision:
        if not bits & (self._deny | self._allow):
            return Decision("deny", None, f"no policy allows {self.action} of its data")
        return self._narrowed(bits) or self._allowed(bits)

    def _narrowed(self, bits: int) -> Decision | None:
        """None without a denial, and on the data plane without a mask or a row filter."""
        if bits & self._deny:
            return self._denied(bits)
        if self.plane == "metadata":
            return None
        filters = list(self._policies(bits & self._row_filter))
        row_filters = tuple(dict.fromkeys(policy.row_filter for policy in filters if policy.row_filter is not None))
        if bits & self._mask:
            policy = self._first(bits & self._mask)
            reason = f"policy {policy.name!r} masks it: {policy.mask and policy.mask.action}"
            return Decision("mask", policy.id, reason, policy.mask, row_filters)
        if filters:
            names = ", ".join(repr(policy.name) for policy in filters)
            reason = f"policy {names} filters its rows" if len(filters) == 1 else f"policies {names} filter its rows"
            return Decision("row-filter", filters[0].id, reason, None, row_filters)
        return None

    def _denied(self, bits: int) -> Decision:
        policy = self._first(bits & self._deny)
        return Decision("deny", policy.id, f"policy {policy.name!r} denies {self.action}")

    def _allowed(self, bits: int) -> Decision:
        policy = self._first(bits & self._allow)
        return Decision("allow", policy.id, f"policy {policy.name!r} allows {self.action}")

    def _with_effect(self, effect: Effect) -> int:
        return _bits(policy.effect == effect for policy in self.policies)

    def _first(self, bits: int) -> Policy:
        return self.policies[(bits & -bits).bit_length() - 1]

    def _policies(self, bits: int) -> Iterator[Policy]:
        while bits:
            yield self._first(bits)
            bits &= bits - 1


class DisabledTable(Table):
    """That of a disabled user on the data plane: no policy allows anything."""

    def __init__(self, action: Action) -> None:
        super().__init__((), action, "data")

    def _on_data(self, bits: int) -> Decision:  # noqa: ARG002 - there are no policies
        return Decision("deny", None, DISABLED)

    def _narrowed(self, bits: int) -> Decision | None:
        return self._on_data(bits)


def applies(policy: Policy, principal: Principal, facts: Facts, context: Context) -> bool:
    """Whether the conditions let a policy take effect. Unknown stops an allow, and nothing else."""
    if policy.conditions is None:
        return True
    outcome = policy.conditions.outcome(principal, facts, context)
    return outcome if outcome is not None else policy.effect != "allow"


def _keep(kept: dict[int, Decision], bits: int, decision: Decision) -> None:
    if len(kept) >= MAX_DECISIONS:
        kept.clear()
    kept[bits] = decision


def _bits(flags: Iterable[bool]) -> int:
    return int("".join("01"[flag] for flag in reversed(list(flags))) or "0", 2)
