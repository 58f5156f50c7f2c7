"""Applies what a directory of users states: who is kept out, and who is in which group."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from lily.model.access import Principal
from lily.model.directory import UserEvent
from lily.model.errors import Refused
from lily.policy import User, fold, parse_user
from lily.store.postgres.access.directory import apply_status, record_state
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.stored_objects import user_entry
from lily.store.postgres.sessions import Fetches

STATUS = frozenset({"disabled", "enabled"})


class Applied(NamedTuple):
    """How many events changed something, and those that could not be applied, by id."""

    changed: int
    refused: dict[str, Refused]


async def apply_users(database: Fetches, events: Iterable[UserEvent]) -> Applied:
    """Each change is audited, and every process is notified with the commit. An event that cannot be applied does not
    hold up the others."""
    changed, refused = 0, dict[str, Refused]()
    for event in sorted(events, key=lambda one: one.clock):
        try:
            changed += await (apply_status if event.change in STATUS else _apply_membership)(database, event)
        except Refused as error:
            refused[event.id] = error
    return Applied(changed, refused)


async def _apply_membership(database: Fetches, event: UserEvent) -> bool:
    """Raises Refused, before anything is stored, if there are too many groups."""
    joins, key = event.change == "joined", fold(event.group)
    known = await objects.find(database, event.tenant, "user", fold(event.user))
    user = User(event.user) if known is None else parse_user(known)
    is_so = joins == any(fold(group) == key for group in user.groups)
    groups = (*user.groups, event.group) if joins else tuple(one for one in user.groups if fold(one) != key)
    entry = user_entry(user if is_so else parse_user(replace(user, groups=groups).as_dict()))
    if not await record_state(database, event, key, holds=joins) or is_so:
        return False
    directory = Principal("", event.tenant, event.by, frozenset())
    changed = await objects.change(database, directory, "put", entry, correlation=event.correlation)
    return changed.done
