"""The roles of a target as principals of Lily."""

from collections.abc import Iterable, Mapping, Sequence

from lily.plugins.enforcers import TargetRole
from lily.policy import Principal, User, fold

Roles = Mapping[str, Mapping[str, str]]  # {role of the target: {"user" | "group" | "role": name in Lily}}


def user_names(roles: Iterable[TargetRole], mapped: Roles) -> set[str]:
    """The users that the roles may be."""
    return {_user(role, _folded(mapped)) for role in roles} - {""}


def principals_of(roles: Iterable[TargetRole], mapped: Roles, users: Mapping[str, User]) -> dict[str, Principal]:
    """By the role's name, without those that the target cannot restrict. `users` are the tenant's, by folded name.

    Without a mapping, a role that can log in is the user of its name, and every role is a group and a role of its
    name, for itself and for its members.
    """
    names = _folded(mapped)
    return {role.name: _principal(role, names, users) for role in roles if not role.unrestricted}


def _principal(role: TargetRole, mapped: Roles, users: Mapping[str, User]) -> Principal:
    user = _user(role, mapped)
    held = [*role.member_of] if user else [role.name, *role.member_of]
    stored = users.get(fold(user)) if user else None
    groups = [*_named("group", held, mapped), *(stored.groups if stored else ())]
    roles = [*_named("role", held, mapped), *(stored.roles if stored else ())]
    return Principal(user, groups, roles, disabled=stored is not None and stored.disabled)


def _user(role: TargetRole, mapped: Roles) -> str:
    """Empty for a role that is not a user."""
    stated = mapped.get(fold(role.name))
    if stated is None:
        return role.name if role.login else ""
    return stated.get("user", "")


def _named(kind: str, held: Sequence[str], mapped: Roles) -> list[str]:
    """The groups or roles of Lily that roles of the target stand for."""
    found = []
    for name in held:
        stated = mapped.get(fold(name))
        if stated is None:
            found.append(name)
        elif kind in stated:
            found.append(stated[kind])
    return found


def _folded(mapped: Roles) -> Roles:
    return {fold(name): stated for name, stated in mapped.items()}
