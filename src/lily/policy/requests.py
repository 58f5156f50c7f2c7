"""What a decision is about: who wants to do what to which asset, under which circumstances."""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from lily.model.assets import tag_key
from lily.policy import names
from lily.policy.policies import Action

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True, eq=False)
class Principal:
    """Who asks. `user` is empty for a token without a user. The groups and roles of the tenant's users table are
    added by the index; those given here come from elsewhere, such as an identity provider's claims.

    `attributes` are compared by conditions. One that is missing is unknown, so an allow that depends on it does not
    apply and anything else does. A disabled user is denied everything on the data plane.
    """

    user: str = ""
    groups: Iterable[str] = ()
    roles: Iterable[str] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    disabled: bool = False
    key: str = field(init=False)  # the same for principals that have the same policies

    def __post_init__(self) -> None:
        groups = tuple(sorted({names.fold(group) for group in self.groups}))
        roles = tuple(sorted({names.fold(role) for role in self.roles}))
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "roles", roles)
        object.__setattr__(self, "key", repr((names.fold(self.user), groups, roles, self.disabled)))


class Ancestor(NamedTuple):
    """A parent, its parent and so on. The name is empty where only the id is known."""

    id: str
    qualified_name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What decisions need to know of an asset. Build it once per asset and keep it: `keys` is not free.

    `ancestors` are stated; `names_above` follow from the name alone, where no parent is stated (`policy.names_above`).
    `tags` are the effective ones. `attributes` are the shown ones; None if they were not loaded, which makes
    conditions on them unknown.

    `restricts_only`: what the name is below counts as above it, although nothing states that. Such facts grant nothing
    and make nothing known; of them, only what policies restrict counts (decision 59).
    """

    id: str
    qualified_name: str = ""
    entity_type: str = ""
    data_source: str = ""
    ancestors: tuple[Ancestor, ...] = ()
    tags: Iterable[str] = ()
    attributes: Mapping[str, Any] | None = None
    names_above: tuple[Ancestor, ...] = ()
    restricts_only: bool = False
    keys: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tags", frozenset(map(tag_key, self.tags)))
        object.__setattr__(self, "keys", frozenset(_resource_keys(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """The circumstances of a request. What is None is unknown.

    `results` keeps the outcome of conditions that depend on the context alone, so a batch with one context evaluates
    each of them once.
    """

    now: datetime | None = None  # with a time zone
    address: str | None = None
    purpose: str | None = None
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address | None = field(init=False)
    results: dict[object, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        if self.now is not None and self.now.tzinfo is None:
            raise ValueError(f"the time {self.now} of a context needs a time zone")
        object.__setattr__(self, "ip", None if self.address is None else plain_address(self.address))


NO_CONTEXT = Context()


class Check(NamedTuple):
    """One question of a batch."""

    principal: Principal
    action: Action
    facts: Facts
    context: Context = NO_CONTEXT


def plain_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An IPv4 address that is mapped into IPv6 becomes the IPv4 address; None for text that is not an address."""
    try:
        address = ipaddress.ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _resource_keys(facts: Facts) -> Iterable[str]:
    """The keys under which policies for this asset are found, but the one for everything."""
    yield names.id_key(facts.id)
    if facts.qualified_name:
        yield names.name_key(facts.qualified_name)
    for ancestor in (*facts.ancestors, *facts.names_above):
        yield names.id_key(ancestor.id)
        if ancestor.qualified_name:
            yield names.name_key(ancestor.qualified_name)
    for tag in (*facts.tags, *([names.EVERY] if facts.tags else ())):
        yield names.tag_resource_key(tag)
    if facts.entity_type:
        yield names.type_key(facts.entity_type)
    if facts.data_source:
        yield names.source_key(facts.data_source)
        yield names.source_key(names.EVERY)
