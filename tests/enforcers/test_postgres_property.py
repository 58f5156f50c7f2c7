"""Random policies and tags: a random query as a random person shows exactly what the policy engine decides."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lily.plugins import Inventory
from lily.policy import MASK_ACTIONS, compile_policies, parse_policy
from tests.enforcers.engine_oracle import FILTERS, FIXED, HASH_OF_THE_QUERY, REFUSED, Engine
from tests.enforcers.target import GROUPS, MEMBERS, PEOPLE, Target, in_line, refusable

TAGS = ("PII", "finance")
COLUMNS = tuple(FIXED)


@pytest.fixture(autouse=True, scope="module")
def _memberships(shop: Target) -> Iterator[None]:
    yield
    _set_memberships(shop, MEMBERS)  # which other tests on the same server have


def subjects() -> st.SearchStrategy[dict[str, str]]:
    kinds = st.sampled_from(["role", "group"])
    groups = st.tuples(kinds, st.sampled_from(GROUPS)).map(lambda pair: {pair[0]: pair[1]})
    return st.sampled_from([{"user": name} for name in (*PEOPLE, "*")]) | groups


def resources() -> st.SearchStrategy[dict[str, str]]:
    """Assets by their names below the database, which is another one each time."""
    assets = ["", ".shop", ".shop.customers", *(f".shop.customers.{column}" for column in COLUMNS)]
    return st.sampled_from([{"asset": name} for name in assets] + [{"tag": tag} for tag in TAGS])


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    effect = draw(st.sampled_from(["allow", "allow", "deny", "mask", "mask", "row-filter"]))
    body = {
        "name": "a policy",
        "subjects": draw(st.lists(subjects(), min_size=1, max_size=2)),
        "resources": draw(st.lists(resources(), min_size=1, max_size=2)),
        "actions": ["READ"],
        "effect": effect,
        "priority": draw(st.integers(0, 1)),
        "applies_to": ["data"],
    }
    if effect == "mask":
        action = draw(st.sampled_from(MASK_ACTIONS))
        value = draw(st.sampled_from([None, "hidden", 7])) if action == "mask-to-fixed-value" else None
        body["mask"] = {"action": action, "value": value}
    if effect == "row-filter":
        body["row_filter"] = draw(st.sampled_from(list(FILTERS)))
    return body


def memberships() -> st.SearchStrategy[Mapping[str, Sequence[str]]]:
    return st.fixed_dictionaries({name: st.lists(st.sampled_from(GROUPS), unique=True) for name in PEOPLE})


def tags() -> st.SearchStrategy[Mapping[str, Sequence[str]]]:
    some = st.lists(st.sampled_from(TAGS), max_size=1)
    names = (".shop", ".shop.customers", *(f".shop.customers.{column}" for column in COLUMNS))
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, some))


def everyone_may_read() -> dict[str, Any]:
    """Without it most policies would decide nothing."""
    body = {"name": "all", "subjects": [{"user": "*"}], "resources": [{"asset": ""}], "actions": ["READ"]}
    return {**body, "effect": "allow", "applies_to": ["data"]}


class Scene(NamedTuple):
    bodies: list[dict[str, Any]]
    tags: Mapping[str, Sequence[str]]
    members: Mapping[str, Sequence[str]]
    columns: Mapping[str, Sequence[str]]  # that each person asks for


def scenes() -> st.SearchStrategy[Scene]:
    some = st.lists(policies(), max_size=6)
    bodies = some | some.map(lambda found: [*found, everyone_may_read()])
    columns = st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True)
    return st.builds(Scene, bodies, tags(), memberships(), st.fixed_dictionaries(dict.fromkeys(PEOPLE, columns)))


@pytest.mark.campaign
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scenes())
def test_a_query_shows_exactly_what_the_engine_decides(shop: Target, scene: Scene) -> None:
    _set_memberships(shop, scene.members)
    engine = _engine(shop, scene.bodies, scene.tags)
    with closing(shop.enforcer(schemas=["shop"])) as enforcer:
        inventory = enforcer.inventory()
        decisions = list(engine.decisions(inventory))
        assert not enforcer.apply(enforcer.plan(decisions))
        assert in_line(enforcer, decisions)
        path = (shop.database, "shop", "customers")
        rows = _rows(shop)
        for role in (one for one in inventory.roles if one.name in PEOPLE):
            columns = scene.columns[role.name]
            for schema, masks in (("shop_masked", True), ("shop", False)):
                found = shop.seen(role.name, f"select {', '.join(columns)} from {schema}.customers")
                assert _sorted(found) == _sorted(engine.seen(role, path, columns, rows, masks=masks)), (
                    role,
                    schema,
                    columns,
                )
        _check_groups(shop, engine, inventory, rows)


def _check_groups(shop: Target, engine: Engine, inventory: Inventory, rows: list[dict[str, Any]]) -> None:
    """A person who acts as a group never sees more than both of them may."""
    path = (shop.database, "shop", "customers")
    for group in (one for one in inventory.roles if one.name in GROUPS):
        concerned = [group, *(one for one in inventory.roles if group.name in one.member_of and not one.unrestricted)]
        for column in COLUMNS:
            shop.run(f'set role "{group.name}"')
            found = refusable(shop.admin, f"select {column} from shop.customers")
            shop.run("reset role")
            if found != REFUSED:
                shown = [_sorted(engine.seen(one, path, [column], rows, masks=False)) for one in concerned]
                assert all(set(_sorted(found)) <= set(one) for one in shown), (group, column)


def _set_memberships(shop: Target, members: Mapping[str, Sequence[str]]) -> None:
    for name, groups in members.items():
        for group in GROUPS:
            verb, word = ("grant", "to") if group in groups else ("revoke", "from")
            shop.run(f'{verb} "{group}" {word} "{name}"')


def _engine(shop: Target, bodies: Sequence[dict[str, Any]], tagged: Mapping[str, Sequence[str]]) -> Engine:
    parsed = []
    for number, body in enumerate(bodies):
        named = [{"asset": shop.database + one["asset"]} if "asset" in one else one for one in body["resources"]]
        parsed.append(parse_policy({**body, "resources": named}, tenant="t", policy_id=f"p{number}"))
    return Engine(compile_policies("t", parsed), {shop.database + name: found for name, found in tagged.items()})


def _rows(shop: Target) -> list[dict[str, Any]]:
    found = shop.admin.execute("select id, name, email, country, born, seen from shop.customers").fetchall()
    return [dict(zip(COLUMNS, row, strict=True)) for row in found]


def _sorted(found: Any) -> list[str]:
    """Rows in any order; what a query hashes with its own salt is only known to be a hash."""
    if found == REFUSED:
        return [REFUSED]
    return sorted(repr(tuple(_plain(value) for value in row)) for row in found)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC)  # the zone's name is the server's: `UTC`, or `Etc/UTC` for the same
    is_hash = isinstance(value, str) and len(value) in (40, 64) and set(value) <= set("0123456789abcdef")
    return HASH_OF_THE_QUERY if is_hash else value
