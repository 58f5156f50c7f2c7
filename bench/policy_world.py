"""A random tenant: policies, roles with inheritance, users, a hierarchy of assets, and checks among them."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from lily.model.ids import asset_id
from lily.policy import (
    ACTIONS,
    Ancestor,
    Check,
    Context,
    Facts,
    Policy,
    Principal,
    Role,
    User,
    parse_policy,
)

TENANT = "bench"
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
OFFSETS = {"UTC": 0, "Etc/GMT-2": 120, "Etc/GMT+5": -300}  # minutes; in these names the sign is the other way round
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NETWORKS = ("10.0.0.0/8", "10.1.0.0/16", "192.168.7.0/24", "2001:db8::/32", "2001:db8:1::/48")
ADDRESSES = ("10.1.2.3", "10.200.0.1", "192.168.7.9", "8.8.8.8", "::ffff:10.1.9.9", "2001:db8:1::5", "2001:db8:2::5")
PURPOSES = ("billing", "audit", "support")
TEAMS = ("finance", "hr", "it")
TYPES = ("database", "schema", "table", "column")


@dataclass(frozen=True)
class PolicyWorld:
    policies: list[Policy]
    roles: list[Role]
    users: list[User]
    assets: list[Facts]
    checks: list[Check]


@dataclass(frozen=True)
class Scale:
    policies: int
    checks: int
    users: int = 1_000
    roles: int = 40
    groups: int = 20
    tables: int = 60
    tags: int = 20
    sources: int = 5


def policy_world(seed: int, scale: Scale) -> PolicyWorld:
    """The same for the same seed and scale."""
    choose = random.Random(seed)
    roles = [_role(choose, number, scale) for number in range(scale.roles)]
    users = [_user(choose, number, scale) for number in range(scale.users)]
    assets = _assets(choose, scale)
    policies = [
        parse_policy(_policy(choose, scale, assets), tenant=TENANT, policy_id=f"p{number}")
        for number in range(scale.policies)
    ]
    principals = [_principal(choose, scale) for _ in range(min(scale.users, 500))]
    contexts = [_context(choose) for _ in range(min(scale.checks, 1_000))]
    checks = [
        Check(choose.choice(principals), choose.choice(ACTIONS), choose.choice(assets), choose.choice(contexts))
        for _ in range(scale.checks)
    ]
    return PolicyWorld(policies, roles, users, assets, checks)


def _role(choose: random.Random, number: int, scale: Scale) -> Role:
    """Inherits from roles with greater numbers only, so there is no cycle: Cedar refuses those."""
    above = range(number + 1, scale.roles)
    inherits = choose.sample(above, min(choose.randrange(3), len(above)))
    groups = choose.sample(range(scale.groups), choose.randrange(2))
    return Role(f"Role{number}", tuple(f"ROLE{one}" for one in inherits), tuple(f"group{one}" for one in groups))


def _user(choose: random.Random, number: int, scale: Scale) -> User:
    roles = tuple(f"role{one}" for one in choose.sample(range(scale.roles), choose.randrange(3)))
    groups = tuple(f"Group{one}" for one in choose.sample(range(scale.groups), choose.randrange(3)))
    return User(f"User{number}", roles, groups)


def _principal(choose: random.Random, scale: Scale) -> Principal:
    """A known user, one that the tenant does not list, or a token without a user; some with groups from claims."""
    user = choose.choice([f"user{choose.randrange(scale.users)}"] * 8 + ["stranger", ""])
    groups = [f"GROUP{choose.randrange(scale.groups)}"] if choose.random() < 0.3 else []
    roles = [f"role{choose.randrange(scale.roles)}"] if choose.random() < 0.2 else []
    attributes = {"team": choose.choice(TEAMS)} if choose.random() < 0.7 else {}
    return Principal(user, groups, roles, attributes)


def _assets(choose: random.Random, scale: Scale) -> list[Facts]:
    assets: list[Facts] = []
    for number in range(scale.tables):
        line = ("Shop", f"Shop.S{number % 4}", f"Shop.S{number % 4}.T{number}", f"Shop.S{number % 4}.T{number}.Email")
        source = choose.choice([f"Source{choose.randrange(scale.sources)}", ""])
        for depth in range(0 if number == 0 else 1 if number < 4 else 2, len(line)):
            ancestors = tuple(Ancestor(asset_id(TENANT, name), name) for name in reversed(line[:depth]))
            tags = [f"Tag{choose.randrange(scale.tags)}" for _ in range(choose.randrange(4))]
            attributes = {"domain": choose.choice(TEAMS)} if choose.random() < 0.8 else {}
            name = line[depth]
            assets.append(Facts(asset_id(TENANT, name), name, TYPES[depth], source, ancestors, tags, attributes))
    return assets


def _policy(choose: random.Random, scale: Scale, assets: list[Facts]) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": "random",
        "subjects": [_subject(choose, scale) for _ in range(choose.randint(1, 3))],
        "resources": [_resource(choose, scale, assets) for _ in range(choose.randint(1, 2))],
        "actions": choose.sample(ACTIONS, choose.randint(1, 3)),
        "effect": choose.choice(["allow"] * 4 + ["deny"]),
        "priority": choose.randrange(3),
    }
    if choose.random() < 0.3:
        body["conditions"] = _conditions(choose)
    return body


def _subject(choose: random.Random, scale: Scale) -> dict[str, str]:
    kind = choose.choice(["user", "group", "role", "role", "role"])
    count = {"user": scale.users, "group": scale.groups, "role": scale.roles}[kind]
    return {kind: f"{kind}{choose.randrange(count)}"} if choose.random() < 0.95 else {"user": "*"}


def _resource(choose: random.Random, scale: Scale, assets: list[Facts]) -> dict[str, str]:
    asset = choose.choice(assets)
    options: list[dict[str, str]] = [
        {"asset": asset.qualified_name},
        {"asset": asset.qualified_name.lower()},
        {"asset": asset.id},
        {"tag": f"TAG{choose.randrange(scale.tags)}"},
        {"tag": f"tag{choose.randrange(scale.tags)}"},
        {"data_source": f"source{choose.randrange(scale.sources)}"},
        {"entity_type": choose.choice(TYPES)},
    ]
    rare = {"asset": "*"}, {"tag": "*"}, {"data_source": "*"}
    return choose.choice(options if choose.random() < 0.95 else rare)


def _conditions(choose: random.Random) -> dict[str, Any]:
    zone = choose.choice(sorted(OFFSETS))
    start, end = choose.sample(range(24), 2)
    options: dict[str, Any] = {
        "time": {"from": f"{start:02}:00", "to": f"{end:02}:30", "timezone": zone},
        "networks": choose.sample(NETWORKS, choose.randint(1, 2)),
        "purpose": choose.sample(PURPOSES, choose.randint(1, 2)),
        "attributes": {choose.choice(["asset", "principal"]): {}},
    }
    if choose.random() < 0.3:
        options["time"] = {choose.choice(["not_before", "not_after"]): (MONDAY + timedelta(days=3)).isoformat()}
    elif choose.random() < 0.5:
        options["weekdays"] = choose.sample(WEEKDAYS, 4)
    for side, tests in options["attributes"].items():
        tests["domain" if side == "asset" else "team"] = choose.sample(TEAMS, choose.randint(1, 2))
    return {name: options[name] for name in choose.sample(sorted(options), choose.randint(1, 2))}


def _context(choose: random.Random) -> Context:
    """Some know nothing."""
    now = MONDAY + timedelta(minutes=choose.randrange(7 * 24 * 60)) if choose.random() < 0.8 else None
    address = choose.choice(ADDRESSES) if choose.random() < 0.8 else None
    return Context(now, address, choose.choice(PURPOSES) if choose.random() < 0.8 else None)
