"""The documents of Ranger plug-ins: names that mean something else to Ranger, the engine itself, names and types."""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from lily.enforce.ranger import (
    PLAIN,
    CatalogueTable,
    Column,
    Documents,
    Estate,
    Ruling,
    Subjects,
    documents,
    engine_paths,
)
from lily.enforce.ranger.expressions import family_of, mask_expression
from lily.enforce.ranger.rights import Rights
from lily.enforce.trino import ObjectNames
from lily.model.engine_names import EngineMapping
from lily.policy import Context, Facts, Mask, Policy, Role, User, compile_policies
from tests.policy_examples import EMAIL, ORDERS, policy
from tests.ranger_engine import RangerEngine

PATH = ("shop", "public", "orders")
TABLE = ".".join(PATH)


def column(name: str, *tags: str) -> Facts:
    return Facts(name, f"{TABLE}.{name}", "column", "warehouse", EMAIL.ancestors, tags)


def made(
    *policies: Policy,
    users: Sequence[User] = (),
    roles: Sequence[Role] = (),
    columns: Sequence[str] = ("email",),
    table: CatalogueTable | None = None,
    more: Sequence[CatalogueTable] = (),
    **facts: Facts,
) -> Documents:
    """Of the orders, whose column `email` is personal."""
    known: dict[str, list[Facts]] = {TABLE: [ORDERS], f"{TABLE}.email": [EMAIL], f"{TABLE}.{PLAIN}": [column(PLAIN)]}
    known |= {one.qualified_name: [one] for one in facts.values()}
    index = compile_policies("t", policies, roles)
    ruling = Ruling(index, Subjects(policies, roles, users), ObjectNames(()), known, Context())
    listed = table or CatalogueTable(PATH, tuple(Column(name, "varchar") for name in columns))
    return documents("trino", Estate([listed, *more], [PATH[:2]]), ruling, str.upper)


def engine(*policies: Policy, **given: Any) -> RangerEngine:
    return RangerEngine.of(made(*policies, **given))


def of_group(name: str, effect: str = "allow", **fields: Any) -> Policy:
    return policy(f"{effect} {name}", effect, subjects=[{"group": name}], **fields)


def test_a_group_called_public_is_not_everyone() -> None:
    members = [User("ann", groups=("public",))]
    allowing = engine(of_group("public"), users=members)
    assert allowing.allows("select", PATH, "ann")
    assert not allowing.allows("select", PATH, "bob", ["public"])
    assert not allowing.allows("select", PATH, "bob")
    denying = engine(policy("all"), of_group("Public", "deny"))
    assert not denying.allows("select", PATH, "bob", ["public"])
    masking = engine(policy("all"), of_group("public", "mask", mask="replace-with-null"))
    assert masking.mask((*PATH, "email"), "bob", ["public"]) == "NULL"


@pytest.mark.parametrize("name", ["{USER}", "{OWNER}"])
def test_a_user_who_is_called_like_a_macro_is_one_user(name: str) -> None:
    downloaded = made(policy("one", subjects=[{"user": name}]))
    items = [item for one in orjson.loads(downloaded.policies.body)["policies"] for item in one["policyItems"]]
    assert not any(user.startswith("{") for item in items for user in item["users"])
    assert RangerEngine.of(downloaded).allows("select", PATH, name)
    assert not RangerEngine.of(downloaded).allows("select", PATH, "ann")


def test_names_are_stated_as_they_are_written_and_in_lower_case() -> None:
    found = engine(of_group("BI"), policy("d", "deny", subjects=[{"user": "Ann"}]), roles=[Role("r", (), ("Ops",))])
    assert found.allows("select", PATH, "bob", ["BI"])
    assert found.allows("select", PATH, "bob", ["bi"])
    assert not found.allows("select", PATH, "Ann", ["bi"])
    assert not found.allows("select", PATH, "ann", ["bi"])


@pytest.mark.parametrize("name", ["a*", "a?", "{user}", " a", ""])
def test_a_column_that_ranger_takes_for_a_pattern_closes_its_table(name: str) -> None:
    denied = policy("d", "deny", resources=[{"tag": "Secret"}])
    assert engine(policy("all")).allows("select", PATH, "ann")
    open_table = engine(policy("all"), denied, columns=("email", name), odd=column(name))
    assert open_table.allows("select", PATH, "ann")  # it is like any other column, and need not be listed
    closed = engine(policy("all"), denied, columns=("email", name), odd=column(name, "Secret"))
    assert not closed.allows("select", PATH, "ann")
    assert not closed.allows("select", (*PATH, "email"), "ann")


def test_a_table_that_ranger_takes_for_a_pattern_is_denied() -> None:
    table = Facts("x", "shop.public.a*", "table", "", ORDERS.ancestors)
    found = engine(policy("all"), table=CatalogueTable(("shop", "public", "a*")), table_facts=table)
    assert not found.allows("select", ("shop", "public", "abc"), "ann")
    assert not found.allows("create", ("shop", "public", "abc"), "ann")


def test_what_describes_a_table_needs_all_of_it_in_the_clear() -> None:
    """Whatever somebody has ingested under that name."""
    path = ("shop", "public", "orders$files")
    given: dict[str, Any] = {
        "more": [CatalogueTable(path)],
        "files": Facts("f", f"{TABLE}$files", "table", "", ORDERS.ancestors),
        "plain": Facts("p", f"{TABLE}$files.{PLAIN}", "column", "", ORDERS.ancestors),
    }
    bounds = (*path, "lower_bounds")
    assert engine(policy("all"), **given).allows("select", bounds, "ann")
    for restricted in (
        policy("m", "mask", mask="show-last-4", resources=[{"tag": "PII"}]),
        policy("d", "deny", resources=[{"asset": TABLE}]),
        policy("r", "row-filter", row_filter="a = 1", resources=[{"asset": TABLE}]),
    ):
        found = engine(policy("all"), restricted, **given)
        assert not found.allows("select", bounds, "ann")
        assert not found.allows("select", path, "ann")
    # The described table is of another data source, whose columns this document does not have.
    elsewhere = made(policy("all"), table=CatalogueTable(path), files=given["files"], plain=given["plain"])
    assert not RangerEngine.of(elsewhere).allows("select", bounds, "ann")


def test_a_column_with_a_separator_in_its_name_is_masked_like_its_table() -> None:
    """By its name alone it would be a column of the table `orders.a`, which somebody has ingested."""
    masked = policy("m", "mask", mask="replace-with-null", resources=[{"tag": "Secret"}])
    stray = Facts("x", f"{TABLE}.a.b", "column", "", ORDERS.ancestors)
    found = engine(policy("all"), masked, columns=("a.b",), odd=stray, plain=column(PLAIN, "Secret"))
    assert found.mask((*PATH, "c"), "ann") == "NULL"
    assert found.mask((*PATH, "a.b"), "ann") == "NULL"


def test_disabled_users_are_denied_before_anything_else() -> None:
    found = engine(policy("all"), users=[User("Eve", disabled=True), User("ann")])
    assert found.allows("select", PATH, "ann")
    for user in ("Eve", "eve"):
        assert not found.allows("select", PATH, user)
        assert not found.allows("select", (*PATH, "email"), user)
        assert not found.allows_on("execute", {"queryid": "20260101_1"}, user)


def test_everyone_may_start_queries_and_be_themselves_alone() -> None:
    found = engine()
    assert found.allows_on("execute", {"queryid": "20260101_1"}, "ann")
    assert found.allows_on("impersonate", {"trinouser": "ann"}, "ann")
    assert not found.allows_on("impersonate", {"trinouser": "bob"}, "ann")
    definition = orjson.loads(made().policies.body)["serviceDef"]
    (user,) = (one for one in definition["resources"] if one["name"] == "trinouser")
    assert user["matcherOptions"]["ignoreCase"] == "false"


def test_the_engine_is_described_to_those_who_are_allowed_something() -> None:
    found = engine(of_group("bi"))
    described = ("memory", "information_schema", "columns", "table_name")
    assert found.allows("select", described, "ann", ["bi"])
    assert not found.allows("select", described, "ann")
    assert not found.allows("select", ("system", "runtime", "nodes"), "ann", ["bi"])
    assert found.allows("select", ("system", "runtime", "queries"), "ann", ["bi"])


def test_operating_the_engine_is_a_right_of_its_own() -> None:
    system = Facts("s", "system", "database")
    every = ["READ", "WRITE", "DELETE"]
    root = policy("root", subjects=[{"user": "root"}], actions=every)
    clerk = policy("clerk", subjects=[{"user": "clerk"}], resources=[{"asset": "shop"}], actions=every)
    found = engine(root, clerk, system=system)
    for user, may in (("root", True), ("clerk", False)):
        assert found.allows_on("impersonate", {"trinouser": "ann"}, user) is may
        assert found.allows_on("write_sysinfo", {"sysinfo": "*"}, user) is may
        assert found.allows("alter", PATH, user) is may
        assert found.allows("insert", PATH, user)
    masked = policy("m", "mask", mask="show-last-4", resources=[{"tag": "PII"}])
    assert not engine(root, masked, system=system).allows("alter", PATH, "root")


def test_a_new_table_is_decided_by_its_schema_and_a_known_one_by_itself() -> None:
    schema = Facts("sp", "shop.public", "schema")
    writer = policy("w", subjects=[{"user": "ann"}], resources=[{"asset": "shop.public"}], actions=["WRITE"])
    denied = policy("d", "deny", resources=[{"asset": TABLE}], actions=["WRITE"])
    found = engine(writer, denied, schema=schema)
    assert found.allows("create", ("shop", "public", "new"), "ann")
    assert not found.allows("create", PATH, "ann")
    assert not found.allows("select", ("shop", "public", "new"), "ann")
    assert not found.allows("create", ("shop", "elsewhere", "new"), "ann")


def test_of_several_assets_with_a_name_the_strictest_mask_comes_first() -> None:
    masks = [Rights(masks=((Mask(action), frozenset({"*"})),)) for action in ("show-last-4", "replace-with-null")]
    ruling = Ruling(compile_policies("t", []), Subjects([], [], []), ObjectNames(()), {}, Context())
    for order in (masks, masks[::-1]):
        found = ruling.together(order).masks
        assert [mask.action for mask, _ in found] == ["replace-with-null", "show-last-4"]


def test_tags_of_tables_and_columns_are_downloaded() -> None:
    found = orjson.loads(made().tags.body)
    assert [one["name"] for one in found["tagDefinitions"].values()] == ["PII"]
    (resource,) = found["serviceResources"]
    assert [level["values"] for level in resource["resourceElements"].values()] == [
        ["shop"],
        ["public"],
        ["orders"],
        ["email"],
    ]
    assert found["resourceToTagIds"] == {str(resource["id"]): [1]}


@pytest.mark.parametrize(
    ("data_type", "family"),
    [
        ("VARCHAR(40)", "text"), ("character varying(10)", "text"), ("STRING", "text"), ("numeric(10, 2)", "decimal"),
        ("double precision", "floating"), ("timestamp(3) with time zone", "timestamp"), ("int8", "integer"),
        ("timestamp without time zone", "timestamp"), ("bytea", "binary"), ("row(a varchar)", None), ("", None),
        ("varchar[]", None), ("array<string>", None), ("varchar); drop", None),
    ],
)  # fmt: skip
def test_types_of_sources_are_recognised_or_unknown(data_type: str, family: str | None) -> None:
    assert family_of(data_type) == family


def test_a_mask_is_null_where_its_text_would_be_replaced_or_its_type_is_unknown() -> None:
    assert mask_expression(None, Mask("show-last-4")) == "NULL"
    assert mask_expression("integer", Mask("show-last-4")) == "NULL"
    assert mask_expression("text", Mask("mask-to-fixed-value", "{type}")) == "NULL"
    assert (
        mask_expression("text", Mask("mask-to-fixed-value", "x'y")) == "TRY_CAST(TRY_CAST('x''y' AS {type}) AS {type})"
    )
    assert mask_expression("text", None, "note = '{col}'") == "NULL"


def test_the_paths_of_an_asset_follow_mappings_and_dots() -> None:
    mapping = EngineMapping("m", "m", "pg", "pg.public", "Shop.public")
    names = ObjectNames([mapping])
    assert engine_paths("shop.Public.orders", [mapping], names, 3) == [PATH, ("pg", "public", "orders")]
    assert engine_paths("lake.a.b.t", [], ObjectNames(()), 3) == [
        ("lake", "a", "b.t"),
        ("lake", "a.b", "t"),
        ("lake.a", "b", "t"),
    ]
    assert engine_paths("orders", [], ObjectNames(()), 3) == []
    taken = EngineMapping("m", "m", "pg", "shop.public", "elsewhere")
    assert engine_paths("shop.public.orders", [taken], ObjectNames([taken]), 3) == []
