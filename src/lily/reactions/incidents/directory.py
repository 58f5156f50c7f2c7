"""Applies what a directory of users states: who is kept out, and who is in which group."""

from collections.abc import Iterable
from dataclasses import replace

from lily.model.access import Principal
from lily.model.directory import UserEvent
from lily.policy import User, fold, parse_user
from lily.store.postgres.access.directory import apply_status, record_state
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.stored_objects import user_entry
from lily.store.postgres.sessions import Fetches

STATUS = frozenset({"disabled", "enabled"})


async def apply_users(database: Fetches, events: Iterable[UserEvent]) -> int:
    """Returns how many changed something. Each change is audited, and every process is notified with the commit."""
    changed = 0
    for event in sorted(events, key=lambda one: one.clock):
        changed += await (apply_status if event.change in STATUS else _apply_membership)(database, event)
    return changed


async def _apply_membership(database: Fetches, event: UserEvent) -> bool:
    joins, key = event.change == "joined", fold(event.group)
    if not await record_state(database, event, key, holds=joins):
        return False
    known = await objects.find(database, event.tenant, "user", fold(event.user))
    user = User(event.user) if known is None else parse_user(known)
    if joins == any(fold(group) == key for group in user.groups):
        return False
    groups = (*user.groups, event.group) if joins else tuple(one for one in user.groups if fold(one) != key)
    # Raises Refused if there are too many.
    entry = user_entry(parse_user(replace(user, groups=groups).as_dict()))
    directory = Principal("", event.tenant, event.by, frozenset())
    changed = await objects.change(database, directory, "put", entry, correlation=event.correlation)
    return changed.done
