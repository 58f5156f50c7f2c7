"""Random policies, principals, assets and contexts over few names, so that they meet."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from lily.model.ids import asset_id
from lily.policy import ACTIONS, MASK_ACTIONS, Ancestor, Context, Facts, Principal, Role, User
from tests.policy_oracle import DAYS, World

TENANT = "t"
LINE = ("shop", "Shop.Public", "shop.public.orders", "shop.public.orders.email")  # each below the one before
USERS, GROUPS, ROLES = ("ann", "Bob", "eve"), ("hr", "Eng"), ("reader", "Analyst", "admin", "owner")
TAGS, SOURCES, TYPES = ("PII", "finance", "Größe"), ("Warehouse", "crm"), ("table", "column")
FILTERS = ("country = 'DE'", "amount < 10", "owner = current_user")
PURPOSES = ("billing", "Audit")
ADDRESSES = ("10.1.2.3", "192.168.0.7", "::ffff:10.9.9.9", "2001:db8::1")
NETWORKS = ("10.0.0.0/8", "192.168.0.0/24", "2001:db8::/32", "0.0.0.0/0")
START = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday


def any_case(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from([variant for name in names for variant in (name, name.upper(), name.lower())])


def some(names: tuple[str, ...], most: int = 2) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(any_case(names), max_size=most, unique_by=str.casefold).map(tuple)


@st.composite
def tables(draw: st.DrawFn, table: str, columns: Collection[str], like_the_table: str = "") -> dict[str, Facts]:
    """A table and its columns by name. Columns have tags of their own, but for the one that is like the table."""
    above = tuple(Ancestor(asset_id(TENANT, name), name) for name in reversed(LINE[:2]))
    source = draw(st.sampled_from(SOURCES))
    of_table = Facts(asset_id(TENANT, table), table, "table", source, above, draw(some(TAGS)), {})
    ancestors, found = (Ancestor(of_table.id, table), *above), {table: of_table}
    for column in columns:
        name = f"{table}.{column}"
        tags = of_table.tags if column == like_the_table else {*of_table.tags, *draw(some(TAGS))}
        found[name] = Facts(asset_id(TENANT, name), name, "column", source, ancestors, tags, {})
    return found


def subjects() -> st.SearchStrategy[dict[str, str]]:
    return st.one_of(
        st.fixed_dictionaries({"user": any_case(USERS) | st.just("*")}),
        st.fixed_dictionaries({"group": any_case(GROUPS)}),
        st.fixed_dictionaries({"role": any_case(ROLES)}),
    )


def resources() -> st.SearchStrategy[dict[str, str]]:
    by_id = st.sampled_from(LINE).map(lambda name: asset_id(TENANT, name))
    return st.one_of(
        st.fixed_dictionaries({"asset": any_case(LINE) | by_id | st.just("*")}),
        st.fixed_dictionaries({"tag": any_case(TAGS) | st.just("*")}),
        st.fixed_dictionaries({"entity_type": any_case(TYPES) | st.just("*")}),
        st.fixed_dictionaries({"data_source": any_case(SOURCES) | st.just("*")}),
    )


def conditions() -> st.SearchStrategy[dict[str, Any]]:
    clock_times = st.sampled_from(["00:00", "06:00", "09:30", "17:00", "22:00"])
    daily = st.tuples(clock_times, clock_times, st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]))
    windows = daily.filter(lambda of: of[0] != of[1]).map(lambda of: {"from": of[0], "to": of[1], "timezone": of[2]})
    moments = st.integers(0, 13).map(lambda days: (START + timedelta(days=days)).isoformat())
    periods = st.sampled_from(["not_before", "not_after"]).flatmap(
        lambda field: st.fixed_dictionaries({field: moments})
    )
    values = st.sampled_from(["finance", "hr"])
    optional: dict[str, st.SearchStrategy[Any]] = {
        "time": windows | periods,
        "weekdays": st.lists(st.sampled_from(DAYS), min_size=1, unique=True),
        "networks": st.lists(st.sampled_from(NETWORKS), min_size=1, max_size=2, unique=True),
        "purpose": st.lists(any_case(PURPOSES), min_size=1, max_size=2, unique_by=str.casefold),
        "attributes": st.one_of(
            st.fixed_dictionaries({"asset": st.fixed_dictionaries({"domain": values})}),
            st.fixed_dictionaries({"principal": st.fixed_dictionaries({"team": values})}),
        ),
    }
    return st.sampled_from(sorted(optional)).flatmap(lambda field: st.fixed_dictionaries({field: optional[field]}))


@st.composite
def policy_bodies(
    draw: st.DrawFn, effects: tuple[str, ...] = ("allow", "deny", "mask", "row-filter")
) -> dict[str, Any]:
    effect = draw(st.sampled_from(effects))
    actions = st.lists(st.sampled_from(ACTIONS), min_size=1, unique=True)
    body: dict[str, Any] = {
        "name": "a policy",
        "subjects": draw(st.lists(subjects(), min_size=1, max_size=2)),
        "resources": draw(st.lists(resources(), min_size=1, max_size=2)),
        "actions": ["READ"] if effect == "mask" else draw(actions),
        "effect": effect,
        "priority": draw(st.integers(-1, 1)),
    }
    if effect == "mask":
        body["mask"] = draw(st.sampled_from(MASK_ACTIONS))
    if effect == "row-filter":
        body["row_filter"] = draw(st.sampled_from(FILTERS))
    if effect in {"allow", "deny"} and draw(st.booleans()):
        body["applies_to"] = draw(st.sampled_from([["metadata"], ["data"], ["metadata", "data"]]))
    if draw(st.integers(0, 2)) == 0:
        body["conditions"] = draw(conditions())
    return body


@st.composite
def roles(draw: st.DrawFn) -> list[Role]:
    """Cycles among them are common."""
    return [Role(name, draw(some(ROLES)), draw(some(GROUPS, 1))) for name in ROLES if draw(st.booleans())]


def users() -> st.SearchStrategy[list[User]]:
    one = st.builds(User, st.sampled_from(USERS), some(ROLES), some(GROUPS))
    return st.lists(one, max_size=3, unique_by=lambda user: user.name.casefold())


@st.composite
def worlds(draw: st.DrawFn) -> World:
    bodies = draw(st.lists(policy_bodies(), max_size=8))
    return World({f"p{number}": body for number, body in enumerate(bodies)}, draw(roles()), draw(users()), TENANT)


@st.composite
def principals(draw: st.DrawFn) -> Principal:
    attributes = draw(st.sampled_from([{}, {"team": "finance"}, {"team": "hr"}]))
    return Principal(draw(any_case(USERS) | st.just("")), draw(some(GROUPS)), draw(some(ROLES)), attributes)


@st.composite
def assets(draw: st.DrawFn) -> Facts:
    depth = draw(st.integers(0, len(LINE) - 1))
    ancestors = [Ancestor(asset_id(TENANT, name), draw(st.sampled_from([name, ""]))) for name in LINE[:depth]]
    attributes = draw(st.sampled_from([None, {}, {"domain": "finance"}, {"domain": "hr"}]))
    source = draw(any_case(SOURCES) | st.just(""))
    name = LINE[depth]
    return Facts(
        asset_id(TENANT, name), name, draw(any_case(TYPES)), source, tuple(ancestors), draw(some(TAGS)), attributes
    )


def moments() -> st.SearchStrategy[datetime]:
    return st.integers(0, 14 * 24 * 4).map(lambda quarters: START + timedelta(minutes=15 * quarters))


def contexts() -> st.SearchStrategy[Context]:
    addresses = st.none() | st.sampled_from(ADDRESSES)
    return st.builds(Context, st.none() | moments(), addresses, st.none() | any_case(PURPOSES))
