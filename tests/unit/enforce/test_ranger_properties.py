"""Random policies: what a Ranger plug-in makes of Lily's documents is what the policies decide, as one loop over them
does, for users and groups that were not known when the documents were made."""

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lily.enforce.ranger import PLAIN, CatalogueTable, Column, Documents, Estate, Ruling, Subjects, documents
from lily.enforce.ranger.expressions import mask_expression
from lily.enforce.trino import ObjectNames
from lily.policy import Context, Facts, Mask, Principal, RowFilter, compile_policies, parse_policy
from tests.policy_oracle import Verdict, World, verdict
from tests.policy_strategies import GROUPS, TENANT, USERS, moments, tables, worlds
from tests.ranger_engine import RangerEngine, holds, shown

PATH = ("shop", "public", "orders")
TABLE = ".".join(PATH)
COLUMNS = {"email": "varchar(40)", "note": "text", PLAIN: ""}
ROWS = [
    {"country": country, "amount": amount, "owner": owner}
    for country, amount, owner in product(("DE", "FR"), (1, 99), ("ann", "zoe"))
]
CATALOGUES = tables(TABLE, COLUMNS, like_the_table=PLAIN)


ALL = {
    "name": "all",
    "subjects": [{"user": "*"}],
    "resources": [{"asset": "*"}],
    "actions": ["READ"],
    "effect": "allow",
}


def readable_worlds() -> st.SearchStrategy[World]:
    """In most of them everyone may read everything: what restricts is found only where something is allowed."""
    allowed = worlds().map(lambda world: world._replace(policies={**world.policies, "all": ALL}))
    return st.one_of(allowed, allowed, worlds())


def made(world: World, context: Context, catalogue: dict[str, Facts]) -> Documents:
    policies = [parse_policy(body, tenant=TENANT, policy_id=key) for key, body in world.policies.items()]
    index = compile_policies(TENANT, policies, world.roles)
    subjects = Subjects(policies, list(world.roles), list(world.users))
    facts = {name: [found] for name, found in catalogue.items()}
    ruling = Ruling(index, subjects, ObjectNames(()), facts, context)
    columns = tuple(Column(name, kind) for name, kind in COLUMNS.items() if name != PLAIN)
    estate = Estate([CatalogueTable(PATH, columns)], [PATH[:2]])
    return documents("trino", estate, ruling, str)


USERS_OF_TRINO = st.sampled_from([*(user.casefold() for user in USERS), "zoe"])
GROUPS_OF_TRINO = st.lists(st.sampled_from([group.casefold() for group in GROUPS]), unique=True)


@pytest.mark.campaign
@settings(max_examples=300)
@given(readable_worlds(), USERS_OF_TRINO, GROUPS_OF_TRINO, moments(), CATALOGUES)
def test_a_plug_in_decides_what_the_policies_do(
    world: World, user: str, groups: Sequence[str], now: object, catalogue: dict[str, Facts]
) -> None:
    context = Context(now)  # type: ignore[arg-type]
    engine, principal = RangerEngine.of(made(world, context, catalogue)), Principal(user, groups)
    verdicts = {name: verdict(world, principal, "READ", facts, context) for name, facts in catalogue.items()}
    table = verdicts[TABLE]
    assert engine.allows("select", PATH, user, groups) == (table.effect != "deny")
    for name in COLUMNS:
        column, path = verdicts[f"{TABLE}.{name}"], (*PATH, name)
        expected = "deny" not in {table.effect, column.effect}
        seen = engine.allows("select", path, user, groups)
        assert seen == expected or (not seen and allowed_by_different_subjects(world))
        if seen:
            same_values(engine, user, groups, path, table, column)


def allowed_by_different_subjects(world: World) -> bool:
    """Ranger cannot require two groups of a user. Only types tell a table from its columns."""
    return any("entity_type" in resource for body in world.policies.values() for resource in body["resources"])


def same_values(  # noqa: PLR0917 - a column, for whom, and what is decided
    engine: RangerEngine, user: str, groups: Sequence[str], path: Sequence[str], table: Verdict, column: Verdict
) -> None:
    rows, mask = engine.row_filter(path[:3], user, groups), engine.mask(path, user, groups)
    own = column.row_filters - table.row_filters
    family = "text" if COLUMNS[path[3]] else None
    expected_mask = mask_expression(family, Mask(column.mask)) if column.mask else ""  # type: ignore[arg-type]
    for row in ROWS:
        passes = all(holds(RowFilter(one).render("trino"), row, user, groups) for one in table.row_filters)
        assert holds(rows, row, user, groups) == passes
        if passes:
            visible = all(holds(RowFilter(one).render("trino"), row, user, groups) for one in own)
            is_shown, shown_as = shown(mask, row, user, groups)
            assert is_shown == (visible and expected_mask != "NULL")
            assert not is_shown or shown_as == expected_mask


@pytest.mark.campaign
@settings(max_examples=100)
@given(worlds(), USERS_OF_TRINO, GROUPS_OF_TRINO, moments(), CATALOGUES)
def test_nothing_is_changed_that_the_policies_do_not_allow(
    world: World, user: str, groups: Sequence[str], now: object, catalogue: dict[str, Facts]
) -> None:
    context = Context(now)  # type: ignore[arg-type]
    engine, principal = RangerEngine.of(made(world, context, catalogue)), Principal(user, groups)
    for action, accesses in {"WRITE": ("insert", "create"), "DELETE": ("delete", "drop")}.items():
        clear = verdict(world, principal, action, catalogue[TABLE], context).effect == "allow"
        for access in accesses:
            assert clear or not engine.allows(access, PATH, user, groups)
    assert not engine.allows("alter", PATH, user, groups)  # nobody operates the engine: `system` is not catalogued


@given(worlds(), moments(), CATALOGUES)
def test_the_same_content_has_the_same_version(world: World, now: object, catalogue: dict[str, Facts]) -> None:
    context = Context(now)  # type: ignore[arg-type]
    first, again = made(world, context, catalogue), made(world, context, dict(reversed(catalogue.items())))
    assert first == again
    assert all(0 < document.version < 1 << 53 for document in first)
