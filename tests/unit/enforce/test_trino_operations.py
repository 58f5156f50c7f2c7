"""What each operation of Trino needs, and that what Lily does not know is denied."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lily.enforce.questions import Decider, references, whole_tables
from lily.enforce.trino import (
    Exchange,
    ObjectNames,
    allow,
    batch,
    batch_column_masks,
    column_mask,
    parse_request,
    row_filters,
)
from lily.enforce.trino.operations import OPERATIONS
from lily.model.engine_names import EngineMapping
from lily.model.errors import Refused
from lily.model.ids import asset_id, name_prefix
from lily.policy import NO_CONTEXT, Ancestor, Facts, Policy, Principal
from lily.policy.candidates import UnknownObjects
from tests import trino_requests as opa
from tests.policy_examples import index, policy

ORDERS, EMAIL = "shop.public.orders", "shop.public.orders.email"
# As listed by the plug-in of Trino 476; the mask and the row filter have addresses of their own.
TRINO_476 = [
    "AccessCatalog", "AddColumn", "AlterColumn", "CreateCatalog", "CreateFunction", "CreateMaterializedView",
    "CreateSchema", "CreateTable", "CreateView", "CreateViewWithExecuteFunction",
    "CreateViewWithSelectFromColumns", "DeleteFromTable", "DropCatalog", "DropColumn", "DropFunction",
    "DropMaterializedView", "DropSchema", "DropTable", "DropView", "ExecuteFunction", "ExecuteProcedure",
    "ExecuteQuery", "ExecuteTableProcedure", "FilterCatalogs", "FilterColumns", "FilterFunctions", "FilterSchemas",
    "FilterTables", "FilterViewQueryOwnedBy", "ImpersonateUser", "InsertIntoTable", "KillQueryOwnedBy",
    "ReadSystemInformation", "RefreshMaterializedView", "RenameColumn", "RenameMaterializedView", "RenameSchema",
    "RenameTable", "RenameView", "SelectFromColumns", "SetCatalogSessionProperty", "SetColumnComment",
    "SetMaterializedViewProperties", "SetSchemaAuthorization", "SetSystemSessionProperty", "SetTableAuthorization",
    "SetTableComment", "SetTableProperties", "SetViewAuthorization", "SetViewComment", "ShowColumns",
    "ShowCreateFunction", "ShowCreateSchema", "ShowCreateTable", "ShowFunctions", "ShowSchemas", "ShowTables",
    "TruncateTable", "UpdateTableColumns", "ViewQueryOwnedBy", "WriteSystemInformation",
]  # fmt: skip


def facts(name: str, kind: str, *tags: str) -> Facts:
    parts = name.split(".")
    above = (".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))
    return Facts(asset_id("t", name), name, kind, "", tuple(Ancestor(asset_id("t", one), one) for one in above), tags)


CATALOGUE = {
    "shop": facts("shop", "database"),
    "shop.public": facts("shop.public", "schema"),
    ORDERS: facts(ORDERS, "table"),
    f"{ORDERS}.id": facts(f"{ORDERS}.id", "column"),
    EMAIL: facts(EMAIL, "column", "PII"),
    "shop.public.notes": facts("shop.public.notes", "table"),
    "system": facts("system", "database"),
}


def answered(
    exchange: Exchange,
    policies: Sequence[Policy],
    known: Mapping[str, Facts] = CATALOGUE,
    unknown_objects: UnknownObjects = "closed",
) -> Any:
    found = {name: [known[name]] if name in known else [] for name in references(exchange.questions)}
    columns = {
        table: [name for name in known if name_prefix(name) == table] for table in whole_tables(exchange.questions)
    }
    found |= {name: [known[name]] for names in columns.values() for name in names}
    decider = Decider(index(*policies), unknown_objects, Principal("ann"), NO_CONTEXT, found, columns)
    decisions = decider.decide_all(exchange.questions)
    assert decisions == [decider.decide(question) for question in exchange.questions]
    return exchange.answer(decisions)


def may(body: Any, *policies: Policy, unknown_objects: UnknownObjects = "closed") -> bool:
    return bool(answered(allow(parse_request(body), ObjectNames(())), policies, CATALOGUE, unknown_objects))


def shop(*actions: str, asset: str = "shop") -> Policy:
    return policy(f"shop-{'-'.join(actions)}", resources=[{"asset": asset}], actions=list(actions))


READER, WRITER, DELETER = shop("READ"), shop("WRITE"), shop("DELETE")
OPERATOR = policy("operator", resources=[{"asset": "system"}], actions=["READ", "WRITE"])
MASKED = policy("masked", "mask", resources=[{"tag": "PII"}], mask="show-last-4")


def test_every_operation_of_trino_476_is_known() -> None:
    assert set(TRINO_476) <= OPERATIONS.keys()
    assert OPERATIONS.keys() - set(TRINO_476) == {"SetMaterializedViewComment"}  # of later versions


@pytest.mark.parametrize("operation", ["", "DropEverything", "executequery", "GetColumnMask"])
def test_an_operation_that_is_not_known_is_denied(operation: str) -> None:
    body = opa.request(operation or "x", resource=opa.table(ORDERS))
    assert not may(body, READER, WRITER, DELETER, OPERATOR, unknown_objects="open")


RESOURCES: dict[str, Any] = {
    "own": opa.owner("bob"),
    "catalog": opa.catalog("shop"),
    "schema": opa.schema("shop.public"),
    "table": opa.table(ORDERS),
    "columns": opa.table(ORDERS, ["id", "email"]),
    "moved": opa.table("shop.public.notes"),
    "function": opa.function("shop.public.f"),
}


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_a_stranger_may_do_nothing_but_start_a_query(operation: str) -> None:
    subject = OPERATIONS[operation].subject
    if operation == "SetCatalogSessionProperty":
        resource = {"catalogSessionProperty": {"catalogName": "shop", "propertyName": "p"}}
    else:
        resource = RESOURCES.get(subject, {})
    assert may(opa.request(operation, resource=resource, targetResource=opa.table("shop.public.new"))) == (
        subject == "free"
    )


@pytest.mark.parametrize(
    ("operation", "resource", "needed"),
    [
        ("SelectFromColumns", opa.table(ORDERS, ["id", "email"]), [READER]),
        ("SelectFromColumns", opa.table(ORDERS, []), [READER]),
        ("ShowColumns", opa.table(ORDERS), [READER]),
        ("CreateViewWithSelectFromColumns", opa.table(ORDERS, ["email"]), [READER]),
        ("InsertIntoTable", opa.table(ORDERS), [WRITER]),
        ("UpdateTableColumns", opa.table(ORDERS, ["email"]), [WRITER]),
        ("CreateTable", opa.table("shop.public.new"), [WRITER]),
        ("CreateTable", opa.table("shop.elsewhere.new"), [WRITER]),
        ("CreateSchema", opa.schema("shop.new"), [WRITER]),
        ("DeleteFromTable", opa.table(ORDERS), [DELETER]),
        ("TruncateTable", opa.table(ORDERS), [DELETER]),
        ("DropTable", opa.table(ORDERS), [DELETER]),
        ("RenameColumn", opa.table(ORDERS), [WRITER, READER]),
        ("ExecuteTableProcedure", opa.table(ORDERS) | {"function": {"functionName": "optimize"}}, [WRITER]),
        ("ReadSystemInformation", {}, [OPERATOR]),
        ("SetViewAuthorization", opa.table(ORDERS), [OPERATOR]),
        ("KillQueryOwnedBy", opa.owner("bob"), [OPERATOR]),
        ("ImpersonateUser", opa.owner("bob"), [OPERATOR]),
        (
            "ExecuteProcedure",
            opa.function("shop.public.f"),
            [policy("f", resources=[{"asset": "shop.public.f"}], actions=["WRITE"])],
        ),
    ],
)
def test_an_operation_needs_all_its_rights(operation: str, resource: Any, needed: list[Policy]) -> None:
    known = CATALOGUE | {"shop.public.f": facts("shop.public.f", "function")}
    exchange = allow(parse_request(opa.request(operation, resource=resource)), ObjectNames(()))
    assert answered(exchange, needed, known)
    for left_out in needed:
        assert not answered(exchange, [one for one in needed if one is not left_out], known)


def test_a_user_sees_and_ends_her_own_queries() -> None:
    for operation in ("ViewQueryOwnedBy", "FilterViewQueryOwnedBy", "KillQueryOwnedBy"):
        assert may(opa.request(operation, resource=opa.owner("ann")))
        assert not may(opa.request(operation, resource=opa.owner("Ann")))


def test_functions_of_connectors_are_denied_whatever_the_setting() -> None:
    """`postgresql.system.query` sends any text to the database, past all masks."""
    passthrough = opa.request("ExecuteFunction", resource=opa.function("shop.system.query"))
    assert not may(passthrough, READER, unknown_objects="open")
    assert may(opa.request("ExecuteFunction", resource=opa.function("system.builtin.sequence")))


def test_a_masked_user_cannot_move_data_under_another_name() -> None:
    renamed = opa.request(
        "RenameTable", resource=opa.table("shop.public.notes"), targetResource=opa.table("shop.public.new")
    )
    assert may(renamed, READER, WRITER, DELETER)
    assert not may(renamed, READER, WRITER)
    hidden = policy("rows", "row-filter", resources=[{"asset": "shop.public.notes"}], row_filter="a = 1")
    assert not may(renamed, READER, WRITER, DELETER, hidden)


def test_nor_a_table_with_a_masked_column() -> None:
    renamed = opa.request("RenameTable", resource=opa.table(ORDERS), targetResource=opa.table("shop.public.new"))
    assert may(renamed, READER, WRITER, DELETER)
    assert not may(renamed, READER, WRITER, DELETER, MASKED)


def test_a_denial_of_one_column_denies_the_query_that_names_it() -> None:
    denied = policy("no-pii", "deny", resources=[{"tag": "PII"}])
    assert not may(opa.select(ORDERS, ["id", "email"]), READER, denied)
    assert may(opa.select(ORDERS, ["id"]), READER, denied)
    assert may(opa.select(ORDERS, ["id", "email"]), READER, MASKED)


def test_a_denial_by_name_holds_for_what_does_not_exist_yet() -> None:
    reserved = policy("reserved", "deny", resources=[{"asset": "shop.public.new"}], actions=["WRITE"])
    assert not may(opa.request("CreateTable", resource=opa.table("shop.public.new")), WRITER, reserved)


def test_what_is_not_in_the_catalogue_follows_the_setting() -> None:
    unknown = opa.select("lake.raw.events", ["a"])
    everything = policy("all")
    assert not may(unknown, everything)
    assert may(unknown, unknown_objects="open")
    assert not may(opa.select("lake.raw.events", ["a"]), policy("no", "deny"), unknown_objects="open")


@pytest.mark.parametrize("hidden", ["files", "partitions", "history"])
def test_what_describes_a_table_is_denied_whatever_the_setting(hidden: str) -> None:
    """It has the least and the largest value of every column, also of those that are masked or denied."""
    denied = policy("no", "deny", resources=[{"asset": ORDERS}])
    assert not may(opa.select(f"{ORDERS}${hidden}", ["data"]), denied, unknown_objects="open")
    filters = row_filters(
        parse_request(opa.request("GetRowFilters", resource=opa.table(f"{ORDERS}${hidden}"))), ObjectNames(())
    )
    assert answered(filters, [denied], CATALOGUE, "open") == [{"expression": "false"}]


@pytest.mark.parametrize("described", [ORDERS, f"{ORDERS}$files"])
def test_what_describes_a_table_needs_all_of_it_in_the_clear(described: str) -> None:
    """Whatever somebody has ingested under that name."""
    name = f"{described}$files"
    column = f"{name}.lower_bounds"
    known = CATALOGUE | {name: facts(name, "table"), column: facts(column, "column")}

    def reads(*policies: Policy) -> bool:
        exchange = allow(parse_request(opa.select(name, ["lower_bounds"])), ObjectNames(()))
        rows = row_filters(parse_request(opa.request("GetRowFilters", resource=opa.table(name))), ObjectNames(()))
        filtered = opa.request("FilterColumns", filterResources=[opa.table(name, ["lower_bounds"])])
        shown = answered(batch(parse_request(filtered), ObjectNames(())), policies, known) == [0]
        found = bool(answered(exchange, policies, known))
        assert found == shown == (answered(rows, policies, known) == [])
        return found

    german = policy("german", "row-filter", resources=[{"asset": ORDERS}], row_filter="a = 1")
    assert reads(READER)
    assert not reads(READER, MASKED)
    assert not reads(READER, german)
    assert not reads(READER, policy("no", "deny", resources=[{"asset": ORDERS}]))
    assert not reads(shop("READ", asset=name))
    elsewhere = policy("no", "deny", resources=[{"asset": "shop.public.notes"}])
    assert reads(READER, elsewhere)


def test_a_known_table_may_have_any_sign_in_its_name() -> None:
    known = CATALOGUE | {"shop.public.v$session": facts("shop.public.v$session", "table")}
    exchange = allow(parse_request(opa.select("shop.public.v$session", [])), ObjectNames(()))
    assert answered(exchange, [READER], known)


def test_a_table_with_a_dot_in_its_name_is_no_column_of_another() -> None:
    exchange = allow(
        parse_request(opa.request("ShowColumns", resource=opa.table(f"{ORDERS}.private"))), ObjectNames(())
    )
    plain = facts(f"{ORDERS}.private", "column")
    assert not answered(exchange, [READER], CATALOGUE | {f"{ORDERS}.private": plain})


def test_the_information_schema_is_shown_to_those_who_may_read_anything() -> None:
    for name in ("shop.information_schema.columns", "system.jdbc.tables", "system.runtime.queries"):
        assert may(opa.select(name, ["table_name"]), READER)
        assert not may(opa.select(name, ["table_name"]))
        assert not may(opa.request("InsertIntoTable", resource=opa.table(name)), READER, WRITER)
    assert not may(opa.select("system.runtime.nodes", ["node_id"]), READER)
    assert may(opa.select("system.runtime.nodes", ["node_id"]), OPERATOR)
    closed = policy("closed", "deny", resources=[{"asset": "shop"}])
    assert not may(opa.select("shop.information_schema.columns", ["table_name"]), policy("all"), closed)


def listed(operation: str, resources: list[Any], *policies: Policy) -> Any:
    return answered(batch(parse_request(opa.request(operation, filterResources=resources)), ObjectNames(())), policies)


def test_lists_are_filtered_by_position() -> None:
    tables = [opa.table("shop.public.secret"), opa.table(ORDERS), opa.table("shop.public.notes")]
    assert listed("FilterTables", tables, READER) == [1, 2]
    assert listed("FilterTables", tables) == []
    assert listed("FilterTables", []) == []
    denied = policy("no-pii", "deny", resources=[{"tag": "PII"}])
    assert listed("FilterColumns", [opa.table(ORDERS, ["email", "id"])], READER, denied) == [1]
    assert listed("FilterColumns", [opa.table(ORDERS, ["email", "id"])]) == []
    assert listed("FilterColumns", [opa.table(ORDERS, ["email", "id"])], shop("READ", asset=EMAIL)) == []
    assert listed("FilterViewQueryOwnedBy", [opa.owner("bob"), opa.owner("ann")]) == [1]
    assert listed("DropEverything", tables, READER) == []
    with pytest.raises(Refused, match="one table"):
        listed("FilterColumns", [opa.table(ORDERS, ["id"])] * 2, READER)


def filters(name: str, *policies: Policy) -> Any:
    exchange = row_filters(parse_request(opa.request("GetRowFilters", resource=opa.table(name))), ObjectNames(()))
    return answered(exchange, policies)


def test_row_filters_are_written_for_trino_and_a_denied_table_has_no_rows() -> None:
    german = policy("german", "row-filter", resources=[{"asset": ORDERS}], row_filter="lower(country) = 'de'")
    recent = policy("recent", "row-filter", resources=[{"asset": "shop"}], row_filter="day > date '2026-01-01'")
    assert filters(ORDERS, READER) == []
    expressions = {one["expression"] for one in filters(ORDERS, READER, german, recent)}
    assert expressions == {"LOWER(country) = 'de'", "day > CAST('2026-01-01' AS DATE)"}
    assert filters(ORDERS, german) == [{"expression": "false"}]
    assert filters("shop.public.unknown", READER) == [{"expression": "false"}]
    assert filters("shop.information_schema.tables", READER) == []


def test_masks_alone_and_in_a_batch_are_the_same() -> None:
    columns = {"id": "bigint", "email": "varchar"}
    exchange = batch_column_masks(parse_request(opa.masks(ORDERS, columns)), ObjectNames(()))
    (masked,) = answered(exchange, [READER, MASKED])
    assert masked["index"] == 1
    for position, (name, kind) in enumerate(columns.items()):
        single = opa.request("GetColumnMask", resource=opa.column(ORDERS, name, kind))
        alone = answered(column_mask(parse_request(single), ObjectNames(())), [READER, MASKED])
        assert alone == (masked["viewExpression"] if position == 1 else None)
    everything = answered(exchange, [])
    assert [one["viewExpression"]["expression"] for one in everything] == [
        "CAST(NULL AS bigint)",
        "CAST(NULL AS varchar)",
    ]


def test_mappings_of_several_sources_are_all_considered_and_the_stricter_decision_holds() -> None:
    mappings = (
        EngineMapping("1", "a", "shop", "PG.public", "shop.public"),
        EngineMapping("2", "b", "crm", "pg.public", "crm.main"),
        EngineMapping("3", "c", "crm", "pg.public.orders.secret", "shop.public.orders.email"),
    )
    names = ObjectNames(mappings)
    assert names.of(("pg", "public", "orders")) == (ORDERS, "crm.main.orders")
    assert names.of(("Pg", "PUBLIC", "orders")) == (ORDERS, "crm.main.orders")
    assert names.of(("pg", "publication")) == ("pg.publication",)
    exchange = allow(parse_request(opa.select("pg.public.orders", ["id", "secret"])), names)
    assert [one.names for one in exchange.questions][1:] == [(f"{ORDERS}.id", "crm.main.orders.id"), (EMAIL,)]
    assert not answered(exchange, [READER])
    crm = CATALOGUE | {name: facts(name, "table") for name in ("crm.main.orders", "crm.main.orders.id")}
    everything = policy("all")
    assert answered(exchange, [everything], crm)
    assert not answered(exchange, [everything, policy("no-crm", "deny", resources=[{"asset": "crm.main.orders"}])], crm)


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"input": {}},
        {"input": {"context": {"identity": {"user": ""}}, "action": {"operation": "ExecuteQuery"}}},
        {"input": {"context": {"identity": {"user": "a", "groups": "g"}}, "action": {"operation": "ExecuteQuery"}}},
        {"input": {"context": {"identity": {"user": "a"}}, "action": {"operation": 7}}},
        opa.request("SelectFromColumns"),
        opa.request("SelectFromColumns", resource={"table": {"catalogName": "a"}}),
        opa.request("SelectFromColumns", resource=opa.schema("a.b")),
        opa.request("AccessCatalog", resource={"catalog": {"name": None}}),
        opa.request("AccessCatalog", resource=opa.catalog("a\x00b")),
        opa.request("ExecuteQuery", user="a\x00b"),
        opa.select(ORDERS, ["a", "a\x00b"]),
        opa.masks(ORDERS, {"a": "bigint", "a\x00b": "bigint"}),
        opa.masks(ORDERS, {"a": "bigint", "": "bigint"}),
    ],
)
def test_what_is_no_request_of_trino_is_refused(body: Any) -> None:
    with pytest.raises(Refused):
        may(body)


def test_an_address_refuses_the_operations_of_another() -> None:
    wrong = parse_request(opa.request("ExecuteQuery"))
    for ask in (row_filters, column_mask, batch_column_masks):
        with pytest.raises(Refused):
            ask(wrong, ObjectNames(()))


def test_who_states_that_a_table_is_a_column_lifts_no_restriction_of_it() -> None:
    hidden = policy("hidden", effect="deny", resources=[{"tag": "PII"}])
    known = {**CATALOGUE, ORDERS: facts(ORDERS, "column", "PII")}
    asked = allow(parse_request(opa.select(ORDERS, ["id"])), ObjectNames(()))
    assert answered(asked, [shop("READ"), hidden], known, "open") is False
    assert answered(asked, [shop("READ")], known, "open") is True
