"""`POST /enforce/opa/…`: what Trino's OPA plug-in is answered, by header and by key, now and after a change."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lily.store.postgres.access.administration import create_token, revoke_token
from tests import trino_requests as opa
from tests.contract.access import create, policy
from tests.contract.door import Door, codes
from tests.contract.flows import connect, propagate
from tests.contract.trino_engine import PEOPLE, Engine, engine_of
from tests.extra_api import until

ADDRESSES = ("allow", "batch", "row-filters", "column-masking", "batch-column-masking")


@pytest.fixture
def engine(door: Door) -> Engine:
    return engine_of(door)


def test_a_tag_that_arrives_by_lineage_masks_the_column_at_once(engine: Engine) -> None:
    door = engine.door
    door.ingest("crm.persons", "table")
    source = door.ingest("crm.persons.mail", "column", parent="crm.persons")
    connect(door, (source, f"{PEOPLE}.email"))
    assert engine.masked(["id", "email"]) == []
    door.change("POST", f"/metadata/{source}/tags", {"tag": "PII"})
    propagate(door)
    assert engine.masked(["id", "email"]) == ["email"]
    single = opa.request("GetColumnMask", resource=opa.column(PEOPLE, "email", "varchar(20)"))
    expression = engine.ask("column-masking", single)["expression"]
    assert expression.startswith("CAST(")
    assert expression.endswith(" AS varchar(20))")
    assert engine.ask("column-masking", opa.request("GetColumnMask", resource=opa.column(PEOPLE, "id"))) is None
    door.change("DELETE", f"/metadata/{source}/tags/PII")
    propagate(door)
    assert engine.masked(["id", "email"]) == []


def test_names_in_another_case_find_the_tag(engine: Engine) -> None:
    """Trino writes names in lower case, whatever the source calls them."""
    door = engine.door
    door.ingest(f"{PEOPLE}.EMAIL", "column", parent=PEOPLE, tags=["PII"])
    door.ingest(f"{PEOPLE}.phone", "column", parent=PEOPLE)
    door.ingest(f"{PEOPLE}.Phone", "column", parent=PEOPLE, tags=["PII"])
    door.ingest("memory.default.ORDERS", "table", parent="memory.default")
    door.ingest("memory.default.ORDERS.Iban", "column", parent="memory.default.ORDERS", tags=["PII"])
    assert engine.masked(["id", "email", "phone"]) == ["email", "phone"]
    assert engine.masked(["id", "iban"], "memory.default.orders") == ["iban"]
    assert engine.ask("allow", opa.select("memory.default.orders", ["id", "iban"]))


def test_a_column_of_which_only_the_graph_knows_is_found_in_another_case(engine: Engine) -> None:
    door = engine.door
    source = door.ingest("crm.persons", "table", tags=["PII"])
    bulk = opa_column(f"{PEOPLE}.MAIL")
    assert door.http.post("/ingest-metadata/bulk", json=[bulk], headers={"Prefer": "wait=30"}).status_code == 200
    connect(door, (source, f"{PEOPLE}.MAIL"))
    propagate(door)
    until(lambda: engine.masked(["mail"]) == ["mail"], 60)


def opa_column(name: str) -> dict[str, Any]:
    return {
        "entity_type": "column",
        "attributes": {"name": name.rpartition(".")[2], "qualified_name": name, "parent": PEOPLE},
    }


def test_decisions_follow_policies_groups_and_mappings(engine: Engine) -> None:
    door = engine.door
    lists = opa.request("FilterTables", filterResources=[opa.table("memory.default.x"), opa.table(PEOPLE)])
    assert engine.ask("batch", lists) == [1]
    assert not engine.ask("allow", opa.select(PEOPLE, ["id"], user="eve"))
    create(door, "/policies", policy({"group": "BI"}, {"asset": PEOPLE}))
    assert engine.ask("allow", opa.select(PEOPLE, ["id"], user="eve", groups=["bi"]))
    assert not engine.ask("allow", opa.select("pg.public.people", ["id"]))
    mapping = {"name": "m", "data_source": "pg", "engine_name": "pg.public", "asset_name": "memory.default"}
    create(door, "/engine-mappings", mapping)
    assert engine.ask("allow", opa.select("pg.public.people", ["id"]))
    create(door, "/policies", policy({"user": "ann"}, {"asset": PEOPLE}, "row-filter", row_filter="country = 'DE'"))
    filters = opa.request("GetRowFilters", resource=opa.table("pg.public.people"))
    assert engine.ask("row-filters", filters) == [{"expression": "country = 'DE'"}]
    assert not engine.ask("allow", opa.request("DropEverything", resource=opa.table(PEOPLE)))


def test_a_table_whose_columns_are_masked_cannot_be_renamed(engine: Engine) -> None:
    everything = policy({"user": "ann"}, {"asset": "memory"}, actions=["WRITE", "DELETE"])
    create(engine.door, "/policies", everything)
    target = opa.table("memory.default.elsewhere")
    renaming = opa.request("RenameTable", resource=opa.table(PEOPLE), targetResource=target)
    assert engine.ask("allow", renaming)
    engine.door.ingest(f"{PEOPLE}.EMAIL", "column", parent=PEOPLE, tags=["PII"])
    assert not engine.ask("allow", renaming)
    assert not engine.ask("allow", opa.request("RenameColumn", resource=opa.table(PEOPLE)))


@pytest.mark.campaign
def test_5000_columns_in_one_request_and_250_requests_at_once(engine: Engine) -> None:
    engine.door.ingest(f"{PEOPLE}.c7", "column", parent=PEOPLE, tags=["PII"])
    columns = [f"c{number}" for number in range(5_000)]
    assert engine.masked(columns) == ["c7"]
    assert engine.ask("allow", opa.select(PEOPLE, columns))
    filtered = opa.request("FilterColumns", filterResources=[opa.table(PEOPLE, columns)])
    assert engine.ask("batch", filtered) == list(range(5_000))
    bodies = [opa.request("GetColumnMask", resource=opa.column(PEOPLE, name)) for name in columns[:250]]
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda body: engine.ask("column-masking", body), bodies))
    assert [place for place, one in enumerate(answers) if one is not None] == [7]


def test_a_token_in_the_header_is_answered_the_same(engine: Engine) -> None:
    body = opa.select(PEOPLE, ["id"])
    with engine.door.limited("enforce:read") as caller:
        assert caller.http.post("/enforce/opa/allow", json=body).json() == {"result": True}


def test_a_revoked_key_is_refused(engine: Engine) -> None:
    body = opa.select(PEOPLE, ["id"])
    assert engine.ask("allow", body)
    (key_id,) = engine.door.token_ids("trino")
    assert revoke_token(engine.door.stack.database, key_id)
    until(lambda: engine.post("allow", body).status_code == 401, 5)


def test_another_tenants_key_sees_nothing_of_this_one(
    engine: Engine, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    other = make_tenant()[0]
    key = create_token(engine.door.stack.database, other, ["enforce:read"])
    body = opa.select(PEOPLE, ["id"])
    assert engine.post("allow", body, key).json() == {"result": False}
    masks = engine.post("batch-column-masking", opa.masks(PEOPLE, {"id": "bigint"}), key).json()["result"]
    assert masks == [{"index": 0, "viewExpression": {"expression": "CAST(NULL AS bigint)"}}]
    assert engine.ask("allow", body)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("body", [[], {}, {"input": {"context": {}, "action": {}}}, opa.request("SelectFromColumns")])
def test_what_is_no_request_is_an_error_and_never_an_empty_answer(engine: Engine, address: str, body: Any) -> None:
    answer = engine.post(address, body)
    if address == "batch" and body == opa.request("SelectFromColumns"):
        assert answer.json() == {"result": []}  # of no resources none is allowed
    else:
        assert answer.status_code == 400
        assert codes(answer) <= {"INVALID_VALUE", "MISSING_FIELD"}
