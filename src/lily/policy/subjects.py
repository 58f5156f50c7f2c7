"""Who a principal is to the policies: its user, its groups, and the roles it holds by any of these."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from lily.model.errors import Terminal
from lily.policy.names import EVERYONE, fold, group_key, role_key, user_key
from lily.policy.requests import Principal
from lily.policy.roles import Role, User, inherited_from

NO_USER = User("")
Named = TypeVar("Named", Role, User)


class DuplicateNames(Terminal):
    """Two stored names compare equal, so whose policies apply is not defined."""


class Held(NamedTuple):
    """A subject key that a principal has, and how: the steps from the principal to it, for people to read."""

    key: str
    steps: tuple[str, ...]


class Directory:
    """A tenant's users and roles by folded name."""

    def __init__(self, roles: Iterable[Role], users: Iterable[User]) -> None:
        self._users: Mapping[str, User] = _by_name(users, "users")
        self._roles: Mapping[str, Role] = _by_name(roles, "roles")
        self._inherits = {key: tuple(map(fold, role.inherits)) for key, role in self._roles.items()}
        self._roles_of_group: dict[str, list[str]] = {}
        for key, role in self._roles.items():
            for group in role.groups:
                self._roles_of_group.setdefault(fold(group), []).append(key)

    def subjects(self, principal: Principal) -> list[Held]:
        """Every subject key of the principal once, with the shortest way to it: first itself, its groups, its roles."""
        user = self._users.get(fold(principal.user), NO_USER) if principal.user else NO_USER
        found: dict[str, tuple[str, ...]] = {EVERYONE: ("everyone",)}
        me = f"user {principal.user}" if principal.user else "this token"
        if principal.user:
            found[user_key(principal.user)] = (me,)
        groups = [fold(group) for group in (*user.groups, *principal.groups)]
        for group in groups:
            found.setdefault(group_key(group), (me, f"group {group}"))
        for role in (*user.roles, *principal.roles):
            self._add_role(found, (me,), role)
        for group in groups:
            for role in self._roles_of_group.get(group, ()):
                self._add_role(found, (me, f"group {group}"), role)
        return [Held(key, steps) for key, steps in found.items()]

    def _add_role(self, found: dict[str, tuple[str, ...]], steps: tuple[str, ...], role: str) -> None:
        for key, path in inherited_from(role, self._inherits).items():
            found.setdefault(role_key(key), (*steps, *(f"role {self._shown(step)}" for step in path)))

    def _shown(self, role: str) -> str:
        return self._roles[role].name if role in self._roles else role


def _by_name(given: Iterable[Named], what: str) -> dict[str, Named]:
    listed = list(given)
    found = {fold(one.name): one for one in listed}
    if len(found) < len(listed):
        twice = next(one.name for one in listed if found[fold(one.name)] is not one)
        raise DuplicateNames(f"two {what} are called {twice!r} but for case; rename or delete one")
    return found
