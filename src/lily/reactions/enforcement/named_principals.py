"""The principals of a target that cannot be read: those that its `roles` map, and those that policies name."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from lily.model.errors import Terminal
from lily.plugins.enforcers import Finding, PrincipalKind, TargetRole
from lily.policy import Policy, Subject, fold
from lily.policy.reading import named_subjects, reading_data
from lily.reactions.enforcement.principals import Roles

MAX_PRINCIPALS = 10_000  # every decision lists those that it is about


class TooManyPrincipals(Terminal):
    """More users, groups and roles than the decisions for one target can list."""


class NamedPrincipals(NamedTuple):
    """`mapped` states exactly what each role is: a group is not also the role of its name. `ambiguous` are names that
    mean more than one, and are denied everything."""

    roles: tuple[TargetRole, ...]
    mapped: dict[str, dict[str, str]]
    ambiguous: frozenset[str]
    findings: tuple[Finding, ...]

    @property
    def kinds(self) -> dict[str, tuple[PrincipalKind, ...]]:
        """By the role's name: what it is. One that is ambiguous counts as each of the three."""
        everything: tuple[PrincipalKind, ...] = ("user", "group", "role")
        return {
            role.name: everything if role.name in self.ambiguous else (_kind(self.mapped[role.name]),)
            for role in self.roles
        }


def named_principals(policies: Iterable[Policy], mapped: Roles, disabled: Collection[str]) -> NamedPrincipals:
    """A user, group or role that `mapped` has under another name is left out under its own. Disabled users are listed
    because a group that they are in may be allowed more. Raises TooManyPrincipals."""
    spelled = {(kind, fold(name)) for stated in mapped.values() for kind, name in stated.items()}
    taken = {fold(name) for name in mapped}
    meanings: dict[str, list[tuple[str, str]]] = {}
    for kind, name in _listed(policies, disabled):
        if (kind, fold(name)) not in spelled and fold(name) not in taken:
            meanings.setdefault(fold(name), []).append((kind, name))
    if len(meanings) + len(mapped) > MAX_PRINCIPALS:
        described = f"policies name {len(meanings) + len(mapped):,} users, groups and roles"
        raise TooManyPrincipals(
            f"{described}, more than {MAX_PRINCIPALS:,}. Let policies name groups instead of users."
        )
    chosen = {name: dict(stated) for name, stated in mapped.items()}
    chosen |= {found[0][1]: {found[0][0]: found[0][1]} for found in meanings.values()}
    ambiguous = {found[0][1]: found for found in meanings.values() if len(found) > 1}
    roles = tuple(TargetRole(name, login=_kind(stated) == "user") for name, stated in sorted(chosen.items()))
    return NamedPrincipals(roles, chosen, frozenset(ambiguous), tuple(map(_described, ambiguous.values())))


def _listed(policies: Iterable[Policy], disabled: Collection[str]) -> list[tuple[str, str]]:
    """Kinds and names, each once however it is spelled."""
    subjects: dict[str, Subject] = named_subjects(reading_data(policies))
    found = {(one.kind, fold(one.name)): (str(one.kind), one.name) for one in subjects.values()}
    found |= {("user", fold(name)): ("user", name) for name in disabled if ("user", fold(name)) not in found}
    return sorted(found.values())


def _kind(stated: dict[str, str]) -> PrincipalKind:
    return "user" if "user" in stated else "group" if "group" in stated else "role"


def _described(meanings: list[tuple[str, str]]) -> Finding:
    kinds = " and a ".join(kind for kind, _ in meanings)
    name = meanings[0][1]
    return Finding(
        name, f"policies name a {kinds} of this name: it is denied everything; state with `roles` which it is"
    )
