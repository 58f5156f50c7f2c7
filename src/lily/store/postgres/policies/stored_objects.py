"""Stored policies, roles, scraper policies and engine mappings, as the objects that they describe."""

from dataclasses import replace
from typing import Any

from lily.model.engine_names import EngineMapping, parse_engine_mapping
from lily.model.errors import Refused, Terminal
from lily.policy import (
    Policy,
    Role,
    ScraperPolicy,
    User,
    fold,
    parse_role,
    parse_scraper_policy,
    parse_user,
    stored_policy,
)
from lily.policy.names import group_key, role_key
from lily.store.postgres.policies.objects import Entry
from lily.store.postgres.policies.snapshot import Object, Stored

Parsed = Policy | Role | ScraperPolicy | EngineMapping


class InvalidStoredObject(Terminal):
    """A stored policy, role, scraper policy or engine mapping cannot be compiled, so the tenant has no decisions."""


def parsed(tenant: str, stored: Stored) -> Parsed:
    """Raises InvalidStoredObject. Without one of its policies a tenant could allow too much, so nothing is decided."""
    try:
        return _parsed(tenant, stored)
    except (Refused, KeyError) as error:
        described = f"The stored {stored.kind} {stored.key!r} of the tenant {tenant} is not valid: {error}."
        raise InvalidStoredObject(f"{described} Replace or delete it.") from error


def _parsed(tenant: str, stored: Stored) -> Parsed:
    body: dict[str, Any] = dict(stored.body or {})
    if stored.kind == "role":
        return parse_role(body)
    object_id = str(body.pop("id"))
    if stored.kind == "policy":
        return stored_policy(body, tenant=tenant, policy_id=object_id)
    if stored.kind == "scraper-policy":
        return parse_scraper_policy(body, policy_id=object_id)
    return parse_engine_mapping(body, mapping_id=object_id)


def stored_user(key: str, body: Object | None, disabled: bool) -> User:  # noqa: FBT001 - as the query returns it
    return replace(User(key) if body is None else parse_user(body), disabled=disabled)


def user_entry(user: User) -> Entry:
    """As it is stored, under its folded name."""
    names = sorted({*map(role_key, user.roles), *map(group_key, user.groups)})
    return Entry("user", fold(user.name), user.as_dict(), names)
