"""Who may do something to an object, for everyone at once: the subjects that its policies name.

A Ranger plug-in decides by itself, for users and groups of which Lily does not know. So nothing is decided here for one
principal. What is left of the policies about an object is what Ranger's items are made of: subjects who are allowed,
subjects who are denied, masks of which the first that applies counts, row filters that apply together.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lily.enforce.questions import Names
from lily.enforce.ranger.subjects import Keys, Subjects
from lily.enforce.trino.objects import ObjectNames
from lily.model.lanes import BULK_TYPES
from lily.policy import ACTIONS, Action, Context, Facts, Mask, Policy, PolicyIndex, Principal, RowFilter
from lily.policy.candidates import of_types, restricting, stated
from lily.policy.tables import Table, applies

_NOBODY = Principal()  # has no attributes, like the users of engines: conditions on them are unknown
CHANGES: tuple[Action, Action] = ("WRITE", "DELETE")
_NO_KEYS: Keys = frozenset()


class Rights(NamedTuple):
    """`masks` are in the order in which they count."""

    allow: Keys = _NO_KEYS
    deny: Keys = _NO_KEYS
    masks: tuple[tuple[Mask, Keys], ...] = ()
    filters: tuple[tuple[RowFilter, Keys], ...] = ()

    def in_clear(self) -> "Rights":
        """With a denial in place of every mask and row filter."""
        narrowed = (keys for _, keys in (*self.masks, *self.filters))
        return Rights(self.allow, self.deny.union(*narrowed))


NO_RIGHTS = Rights()


class Ruling:
    """The rights that the policies in force give. `facts` has the assets of every name that is looked up; `names` are
    those that the engine's objects have in Lily."""

    def __init__(
        self,
        index: PolicyIndex,
        subjects: Subjects,
        names: ObjectNames,
        facts: Mapping[str, Sequence[Facts]],
        context: Context,
    ) -> None:
        self.index, self.subjects = index, subjects
        self._names, self._facts, self._context = names, facts, context
        self._tables = {action: Table(index.policies.values(), action, "data") for action in ACTIONS}
        self._kept: dict[tuple[str, ...], Rights] = {}

    def of(self, action: Action, path: Sequence[str], *, is_column: bool = False) -> Rights:
        return self.of_names(action, self._names.of(path), is_column=is_column)

    def of_names(self, action: Action, names: Names, *, is_column: bool = False) -> Rights:
        """What is not in the catalogue is denied. A name that means several assets gets the stricter result."""
        return self.together([self._about(action, name, is_column=is_column) for name in names])

    def facts(self, path: Sequence[str], *, is_column: bool = False) -> list[Facts]:
        return [facts for name in self._names.of(path) for facts in self._candidates(name, is_column=is_column)]

    def together(self, rights: Sequence[Rights]) -> Rights:
        """Allowed by all of them, and restricted by each. Masks are ordered by strictness, because those of different
        objects have no order."""
        different = list(dict.fromkeys(rights))
        if len(different) == 1:
            return different[0]
        masks = sorted((one for each in different for one in each.masks), key=lambda one: one[0].strictness)
        return Rights(
            self.subjects.meet_all([each.allow for each in different]),
            _NO_KEYS.union(*(each.deny for each in different)),
            tuple(dict.fromkeys(masks)),
            tuple(dict.fromkeys(one for each in different for one in each.filters)),
        )

    def _about(self, action: Action, name: str, *, is_column: bool) -> Rights:
        candidates = self._candidates(name, is_column=is_column)
        if not candidates:
            return NO_RIGHTS
        rights = self.together([self._by_policies(action, facts) for facts in candidates])
        only = [self._by_policies(action, facts) for facts in restricting(self._facts.get(name, ()))]
        return self.together([rights, *(one._replace(allow=rights.allow) for one in only)]) if only else rights

    def _candidates(self, name: str, *, is_column: bool) -> Sequence[Facts]:
        found = stated(self._facts.get(name, ()))
        return found if is_column else of_types(found, BULK_TYPES)

    def _by_policies(self, action: Action, facts: Facts) -> Rights:
        matching = [
            policy for policy in self._tables[action].matching(facts) if applies(policy, _NOBODY, facts, self._context)
        ]
        key = tuple(policy.id for policy in matching)
        if key not in self._kept:
            self._kept[key] = _rights(matching)
        return self._kept[key]


def _rights(policies: Sequence[Policy]) -> Rights:
    return Rights(
        _NO_KEYS.union(*(_keys(policy) for policy in policies if policy.effect == "allow")),
        _NO_KEYS.union(*(_keys(policy) for policy in policies if policy.effect == "deny")),
        tuple((policy.mask, _keys(policy)) for policy in policies if policy.effect == "mask" and policy.mask),
        tuple(_by_filter(policies).items()),
    )


def _by_filter(policies: Iterable[Policy]) -> dict[RowFilter, Keys]:
    found: dict[RowFilter, Keys] = {}
    for policy in policies:
        if policy.effect == "row-filter" and policy.row_filter is not None:
            found[policy.row_filter] = found.get(policy.row_filter, _NO_KEYS) | _keys(policy)
    return found


def _keys(policy: Policy) -> Keys:
    return frozenset(subject.key for subject in policy.subjects)
