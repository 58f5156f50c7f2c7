"""What a decision means, written as one loop over the policies as people state them: slow, and hard to get wrong."""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from lily.model.ids import asset_id
from lily.policy import Context, Facts, Principal, Role, User, parse_row_filter

# The strictest first.
MASKS = [
    "replace-with-null",
    "mask-to-fixed-value",
    "mask-alphanum",
    "sha-256-query-local",
    "sha-256-global",
    "truncate-to-year",
    "truncate-to-month",
    "show-last-4",
    "show-first-4",
]
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class Verdict(NamedTuple):
    effect: str
    policy_id: str | None = None
    mask: str | None = None
    row_filters: frozenset[str] = frozenset()


class World(NamedTuple):
    """Policies by id, as JSON."""

    policies: Mapping[str, dict[str, Any]]
    roles: Sequence[Role] = ()
    users: Sequence[User] = ()
    tenant: str = "t"


def verdict(  # noqa: PLR0917 - the parameters of `PolicyIndex.decide`
    world: World, principal: Principal, action: str, facts: Facts, context: Context, plane: str = "data"
) -> Verdict:
    found: dict[str, list[tuple[Any, ...]]] = {"deny": [], "allow": [], "mask": [], "row-filter": []}
    for policy_id, policy in world.policies.items():
        if action not in policy["actions"] or plane not in policy.get("applies_to", ["metadata", "data"]):
            continue
        if not any(is_subject(world, principal, *entry) for one in policy["subjects"] for entry in one.items()):
            continue
        if not any(is_resource(world.tenant, facts, *entry) for one in policy["resources"] for entry in one.items()):
            continue
        outcomes = condition_outcomes(policy.get("conditions", {}), principal, facts, context)
        if False in outcomes or (None in outcomes and policy["effect"] == "allow"):
            continue
        strictness = MASKS.index(policy["mask"]) if "mask" in policy else 0
        found[policy["effect"]].append((-policy.get("priority", 0), strictness, policy_id))
    return combined(world, found, plane)


def combined(world: World, found: Mapping[str, list[tuple[Any, ...]]], plane: str) -> Verdict:
    if found["deny"]:
        return Verdict("deny", min(found["deny"])[-1])
    if plane == "metadata":
        return Verdict("allow", min(found["allow"])[-1] if found["allow"] else None)
    if not found["allow"]:
        return Verdict("deny")
    filters = frozenset(parse_row_filter(world.policies[key[-1]]["row_filter"]).sql for key in found["row-filter"])
    if found["mask"]:
        first = min(found["mask"])[-1]
        return Verdict("mask", first, world.policies[first]["mask"], filters)
    if filters:
        return Verdict("row-filter", min(found["row-filter"])[-1], None, filters)
    return Verdict("allow", min(found["allow"])[-1])


def is_subject(world: World, principal: Principal, kind: str, name: str) -> bool:
    if name == "*":
        return True
    users = [user for user in world.users if principal.user and user.name.casefold() == principal.user.casefold()]
    groups = {group.casefold() for group in principal.groups} | {g.casefold() for user in users for g in user.groups}
    roles = {role.casefold() for role in principal.roles} | {r.casefold() for user in users for r in user.roles}
    roles |= {role.name.casefold() for role in world.roles if groups & {group.casefold() for group in role.groups}}
    for _ in world.roles:  # as often as the longest chain can be
        roles |= {above.casefold() for role in world.roles if role.name.casefold() in roles for above in role.inherits}
    if kind == "user":
        return bool(principal.user) and principal.user.casefold() == name.casefold()
    return name.casefold() in (groups if kind == "group" else roles)


def is_resource(tenant: str, facts: Facts, kind: str, value: str) -> bool:
    if kind == "asset":
        line = [(facts.id, facts.qualified_name), *facts.ancestors]
        by_id = {asset_id(tenant, value), value.lower()}
        return value == "*" or any(one in by_id or (name and name.casefold() == value.casefold()) for one, name in line)
    if kind == "tag":
        return bool(facts.tags) if value == "*" else value.casefold() in {tag.casefold() for tag in facts.tags}
    if kind == "data_source":
        stated = facts.data_source.casefold()
        return bool(stated) and value in {"*"} | {value if value.casefold() == stated else ""}
    return value == "*" or facts.entity_type.casefold() == value.casefold()


def condition_outcomes(
    conditions: Mapping[str, Any], principal: Principal, facts: Facts, context: Context
) -> list[bool | None]:
    timed = {"time", "weekdays"} & conditions.keys()
    found: list[bool | None] = [None] * len(timed)
    if context.now is not None:
        found = [*time_outcomes(conditions, context.now)]
    if "networks" in conditions:
        found.append(within_networks(context.address, conditions["networks"]))
    if "purpose" in conditions:
        known = [purpose.casefold() for purpose in conditions["purpose"]]
        found.append(None if context.purpose is None else context.purpose.casefold() in known)
    for name, value in conditions.get("attributes", {}).get("asset", {}).items():
        found.append(None if facts.attributes is None else facts.attributes.get(name) == value)
    for name, value in conditions.get("attributes", {}).get("principal", {}).items():
        found.append(principal.attributes[name] == value if name in principal.attributes else None)
    return found


def time_outcomes(conditions: Mapping[str, Any], now: datetime) -> Iterator[bool]:
    times = conditions.get("time", {})
    local = now.astimezone(ZoneInfo(times.get("timezone", "UTC")))
    if "from" in times:
        yield within_day(local, times["from"], times["to"])
    if "not_before" in times:
        yield now >= datetime.fromisoformat(times["not_before"])
    if "not_after" in times:
        yield now < datetime.fromisoformat(times["not_after"])
    if "weekdays" in conditions:
        yield DAYS[local.weekday()] in conditions["weekdays"]


def within_day(moment: datetime, start: str, end: str) -> bool:
    minute = f"{moment:%H:%M}"
    return start <= minute < end if start < end else minute >= start or minute < end


def within_networks(address: str | None, networks: Sequence[str]) -> bool | None:
    if address is None:
        return None
    ip = ipaddress.ip_address(address.removeprefix("::ffff:"))
    return any(ip in ipaddress.ip_network(network) for network in networks)
