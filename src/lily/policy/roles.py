"""Roles that inherit from each other, and the users of a tenant."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lily.model.errors import Problem, Refused
from lily.policy.fields import finish, optional_names, own_name, the_object
from lily.policy.names import fold

ROLE_FIELDS = ("name", "inherits", "groups")
USER_FIELDS = ("name", "roles", "groups")


@dataclass(frozen=True, slots=True)
class Role:
    """Holders of a role also hold the roles that it `inherits`. Members of one of its `groups` hold the role."""

    name: str
    inherits: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "inherits": list(self.inherits), "groups": list(self.groups)}


@dataclass(frozen=True, slots=True)
class User:
    name: str
    roles: tuple[str, ...] = ()  # beside those of the groups
    groups: tuple[str, ...] = ()  # beside those that an identity provider states
    disabled: bool = False  # kept apart from the definition: a user need not be defined to be disabled

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "roles": list(self.roles), "groups": list(self.groups)}


def parse_role(data: Any) -> Role:
    """Raises Refused with every problem. Whether its inheritance is a cycle depends on the others: `role_cycle`."""
    checker, fields = the_object(data, ROLE_FIELDS, "role")
    name = own_name(checker, fields, "role")
    inherits = optional_names(checker, fields.get("inherits"), "inherits")
    groups = optional_names(checker, fields.get("groups"), "groups")
    if name and fold(name) in map(fold, inherits):
        checker.refuse("ROLE_CYCLE", f"the role {name} inherits from itself; remove it from `inherits`", "inherits")
    finish(checker)
    return Role(name, inherits, groups)


def parse_user(data: Any) -> User:
    """Raises Refused with every problem."""
    checker, fields = the_object(data, USER_FIELDS, "user")
    name = own_name(checker, fields, "user")
    roles = optional_names(checker, fields.get("roles"), "roles")
    groups = optional_names(checker, fields.get("groups"), "groups")
    finish(checker)
    return User(name, roles, groups)


def role_cycle(roles: Iterable[Role]) -> tuple[str, ...]:
    """The names along a cycle of inheritance, the first again at the end; empty if there is none."""
    by_key = {fold(role.name): role for role in roles}
    finished: set[str] = set()
    for start in by_key:
        path: dict[str, None] = {}  # a list would be searched at each step of a long chain
        stack = [iter((start,))]
        while stack:
            key = next(stack[-1], None)
            if key is None:
                stack.pop()
                if path:
                    finished.add(path.popitem()[0])
            elif key in path:
                steps = list(path)
                return tuple(by_key[step].name for step in (*steps[steps.index(key) :], key))
            elif key in by_key and key not in finished:
                path[key] = None
                stack.append(iter([fold(name) for name in by_key[key].inherits]))
    return ()


def refuse_role_cycle(roles: Iterable[Role]) -> None:
    """Raises Refused with the names along the cycle, if there is one. `roles` are those that would be stored."""
    if cycle := role_cycle(roles):
        described = f"the roles inherit in a circle: {' → '.join(cycle)}; remove one of these from `inherits`"
        raise Refused(Problem("ROLE_CYCLE", described, "inherits"))


def inherited_from(role: str, inherits: Mapping[str, tuple[str, ...]]) -> dict[str, str | None]:
    """By folded name, each role that a holder of `role` holds, with the role that inherits it; None for `role`, which
    is the first. Cycles end."""
    heirs: dict[str, str | None] = {fold(role): None}
    queue = list(heirs)
    for key in queue:
        for above in inherits.get(key, ()):
            if above not in heirs:
                heirs[above] = key
                queue.append(above)
    return heirs
