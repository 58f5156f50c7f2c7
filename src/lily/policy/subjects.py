"""Who a principal is to the policies: its user, its groups, and the roles it holds by any of these."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from lily.model.errors import Terminal
from lily.policy.names import EVERYONE, fold, group_key, role_key, user_key
from lily.policy.requests import Principal
from lily.policy.roles import Role, User, inherited_from

NO_USER = User("")
Named = TypeVar("Named", Role, User)


class DuplicateNames(Terminal):
    """Two stored names compare equal, so whose policies apply is not defined."""


@dataclass(frozen=True, slots=True)
class Held:
    """A subject key that a principal has, and how: the last step to it, and what is before that. Writing out the steps
    to each of thousands of roles in a chain takes seconds, so it is left to those who read them."""

    key: str
    step: str
    before: "Held | None" = None

    @property
    def steps(self) -> tuple[str, ...]:
        """From the principal to the key, for people to read."""
        found, at = [self.step], self.before
        while at is not None:
            found.append(at.step)
            at = at.before
        return tuple(reversed(found))


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
        me = Held(user_key(principal.user), f"user {principal.user}" if principal.user else "this token")
        found = {EVERYONE: Held(EVERYONE, "everyone")}
        if principal.user:
            found[me.key] = me
        groups = [fold(group) for group in (*user.groups, *principal.groups)]
        held_by = {group: Held(group_key(group), f"group {group}", me) for group in groups}
        for held in held_by.values():
            found.setdefault(held.key, held)
        for role in (*user.roles, *principal.roles):
            self._add_role(found, me, role)
        for group, held in held_by.items():
            for role in self._roles_of_group.get(group, ()):
                self._add_role(found, held, role)
        return list(found.values())

    def _add_role(self, found: dict[str, Held], holder: Held, role: str) -> None:
        for role_name, heir in inherited_from(role, self._inherits).items():
            key = role_key(role_name)
            if key not in found:
                before = holder if heir is None else found[role_key(heir)]
                found[key] = Held(key, f"role {self._shown(role_name)}", before)

    def _shown(self, role: str) -> str:
        return self._roles[role].name if role in self._roles else role


def _by_name(given: Iterable[Named], what: str) -> dict[str, Named]:
    listed = list(given)
    found = {fold(one.name): one for one in listed}
    if len(found) < len(listed):
        twice = next(one.name for one in listed if found[fold(one.name)] is not one)
        raise DuplicateNames(f"two {what} are called {twice!r} but for case; rename or delete one")
    return found
