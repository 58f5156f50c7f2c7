"""The subjects of policies as Ranger knows them: users by name, everyone as the group `public`, and a role of Ranger
for each group and role of Lily. Ranger compares names with case, so each is stated as it is written and folded."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

from lily.policy import Policy, Principal, Role, User, fold
from lily.policy.names import EVERYONE, group_key, role_key, user_key
from lily.policy.subjects import Directory

Keys = frozenset[str]  # subject keys as the policies have them: `u:ann`, `g:bi-team`, `r:analyst`, `*`
PUBLIC = "public"  # the group that Ranger takes every user to be in
DISABLED = "x:disabled"  # the key of users who are denied everything
NOBODY = "x:nobody"
_KINDS = {"u": "user", "g": "group", "r": "role", "x": "lily"}
_PUBLIC_KEY = group_key(PUBLIC)


class Members(NamedTuple):
    """Users of whom Lily knows, and groups of the engine."""

    users: frozenset[str]
    groups: frozenset[str]


class Subjects:
    """`users` are those of the tenant, with the disabled ones, whether they are defined or not."""

    def __init__(self, policies: Iterable[Policy], roles: Sequence[Role], users: Sequence[User]) -> None:
        named = {subject.key: subject.name for policy in policies for subject in policy.subjects}
        named.pop(EVERYONE, None)
        self._directory = Directory(roles, users)
        self._disabled = [user.name for user in users if user.disabled]
        self._spelled: dict[str, set[str]] = {}
        self._held: dict[str, Keys] = {}  # by key: every key that a holder of it has
        self._holders: dict[str, set[str]] = {}
        groups = {group for role in roles for group in role.groups}
        # Items name nothing but these, and users: the groups and roles that policies name, or that imply one of them.
        self._roles = {*named, *map(group_key, groups), *(role_key(role.name) for role in roles)}
        for key, name in named.items():
            self._add(key, name)
        for user in users:
            self._add(user_key(user.name), user.name)
        for group in groups.union(*(user.groups for user in users)):
            self._add(group_key(group), group)
        for role in roles:
            self._add(role_key(role.name), role.name)
        self._met: dict[tuple[Keys, Keys], Keys] = {}
        self._members: dict[Keys, Members] = {}

    def meet_all(self, keys: Sequence[Keys]) -> Keys:
        return reduce(self.meet, keys)

    def meet(self, left: Keys, right: Keys) -> Keys:
        """Who is named by both. A principal who is in one group of `left` and in an unrelated one of `right` is left
        out: Ranger's items cannot require both."""
        if EVERYONE in right or left <= right:
            return left
        if EVERYONE in left or right <= left:
            return right
        met = self._met.get((left, right))
        if met is None:
            both = self._implying(left) & self._implying(right)
            met = frozenset(key for key in both if not (self._held[key] - {key}) & both)
            self._met[left, right] = met
        return met

    def members(self, keys: Keys) -> Members:
        """Who holds one of the keys, folded. `*` is not one of them."""
        known = self._members.get(keys)
        if known is None:
            holders = self._implying(keys)
            users, groups = (frozenset(one[2:] for one in holders if one.startswith(kind)) for kind in ("u:", "g:"))
            known = self._members[keys] = Members(users, groups)
        return known

    def item(self, keys: Keys, *, restricts: bool = False) -> dict[str, Any]:
        """The fields of an item that state whom it is about. A group of the engine that is called `public` cannot be
        told from everyone: what it is denied everyone is, and what it is allowed nobody is."""
        users, roles = set[str](), set[str]()
        groups = [PUBLIC] if EVERYONE in keys or (restricts and _PUBLIC_KEY in keys) else []
        for key in keys - {EVERYONE}:
            if self._is_role(key):
                roles.add(role_name(key))
            else:
                users |= self._spelled[key]
        return {"users": sorted(users), "groups": groups, "roles": sorted(roles)}

    @property
    def disabled(self) -> Keys:
        return frozenset({DISABLED} if self._disabled else ())

    def roles(self) -> Iterator[dict[str, Any]]:
        """Ranger's roles: one for each key that an item may have as a role."""
        for key in sorted(filter(self._is_role, self._roles)):
            holders = self._holders[key]
            users, groups = (_names(self._spelled, holders, kind) for kind in ("u:", "g:"))
            yield _role(role_name(key), users, groups - {PUBLIC})
        if self._disabled:
            yield _role(
                role_name(DISABLED), {spelling for name in self._disabled for spelling in (name, fold(name))}, set()
            )

    def _is_role(self, key: str) -> bool:
        """A user whom Ranger would take for a macro, such as `{USER}`, can only be named as the member of a role."""
        return not key.startswith("u:") or "{" in key

    def _implying(self, keys: Keys) -> set[str]:
        return set[str]().union(*(self._holders.get(key, ()) for key in keys))

    def _add(self, key: str, name: str) -> None:
        self._spelled.setdefault(key, set()).update((name, fold(name)))
        if key not in self._held:
            held = self._directory.subjects(_principal(key))
            self._held[key] = frozenset({key, *(one.key for one in held)}) - {EVERYONE}
            for one in self._held[key]:
                self._holders.setdefault(one, set()).add(key)


def role_name(key: str) -> str:
    kind, name = key.split(":", 1)
    return f"{_KINDS[kind]}:{name}"


def _principal(key: str) -> Principal:
    kind, name = key.split(":", 1)
    if kind == "u":
        return Principal(name)
    return Principal(groups=[name]) if kind == "g" else Principal(roles=[name])


def _names(spelled: dict[str, set[str]], holders: Iterable[str], kind: str) -> set[str]:
    return set[str]().union(*(spelled[holder] for holder in holders if holder.startswith(kind)))


def _role(name: str, users: Iterable[str], groups: Iterable[str]) -> dict[str, Any]:
    return {
        "name": name,
        "users": [{"name": user, "isAdmin": False} for user in sorted(users)],
        "groups": [{"name": group, "isAdmin": False} for group in sorted(groups)],
        "roles": [],
    }
