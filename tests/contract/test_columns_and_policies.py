"""Columns that only the lake has are decided with their table, whatever else is ingested about them or their names."""

import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from lily.model import clock, ids
from tests.contract.access import check, create, effect, policy
from tests.contract.door import WAIT, Door, table
from tests.contract.flows import connect, propagate
from tests.contract.test_lanes import column
from tests.contract.test_policy_past import decision

EVERYONE = {"user": "*"}
WRITER = ("metadata:read", "metadata:write", "lineage:read", "lineage:write")


def eventually(holds: Callable[[], Any], patience: float = 60) -> None:
    """The lake describes a column of the graph a moment after its edge was written."""
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def bulk(door: Door, *rows: dict[str, Any]) -> None:
    answer = door.http.post("/ingest-metadata/bulk", json=list(rows), headers=WAIT)
    assert (answer.status_code, answer.json()["rejected"]) == (200, 0), answer.text


@pytest.fixture
def vault(door: Door) -> Door:
    """The columns of vault.keys are in the lake alone; one of them has lineage, which the graph knows by now."""
    door.ingest("vault.keys", data_source="vault")
    door.ingest("report")
    bulk(door, column("vault.keys.a"), column("vault.keys.b"))
    edges = {"edges": [{"from": "vault.keys.a", "to": "report", "relationship_type": "derived-from"}]}
    door.change("POST", "/lineage", edges)
    eventually(lambda: graph_has_parent(door, "vault.keys.a"))
    return door


def graph_has_parent(door: Door, name: str) -> bool:
    asked = "select parent is not null from graph_nodes where tenant_id = %s and id = %s"
    with psycopg.connect(door.stack.database) as connection:
        row = connection.execute(asked, [door.tenant, ids.asset_id(door.tenant, name)]).fetchone()
    return row is not None and bool(row[0])


def forget_in_graph(door: Door, name: str) -> None:
    """As before the lake was read for the node."""
    forgotten = "update graph_nodes set parent = null, qualified_name = null, entity_type = null, awaits_lake = true"
    with psycopg.connect(door.stack.database) as connection:
        where = [door.tenant, ids.asset_id(door.tenant, name)]
        connection.execute(f"{forgotten} where tenant_id = %s and id = %s", where)


def test_a_column_with_lineage_keeps_the_data_source_of_its_table(vault: Door) -> None:
    create(vault, "/policies", policy(EVERYONE, {"asset": "*"}))
    create(vault, "/policies", policy({"user": "bob"}, {"data_source": "vault"}, "deny", actions=["READ", "WRITE"]))
    for reference in ("vault.keys.a", "vault.keys.b", "VAULT.keys.A"):
        assert effect(vault, "bob", reference) == "deny", reference
    assert effect(vault, "ann", "vault.keys.a") == "allow"
    with vault.limited(*WRITER, user="bob") as bob:
        assert is_redacted(bob, "vault.keys.a")
        edge = {"edges": [{"from": "vault.keys.a", "to": "report", "relationship_type": "derived-from"}]}
        assert bob.http.post("/lineage", json=edge).status_code == 403
        answer = bob.http.post("/ingest-metadata", json=table("vault.keys.a", "column", description="changed"))
        assert answer.status_code == 403
        forget_in_graph(vault, "vault.keys.a")
        assert is_redacted(bob, "vault.keys.a")


def is_redacted(door: Door, name: str) -> bool:
    nodes = door.http.get("/lineage/report?direction=upstream").json()["nodes"]
    return bool({node["metadata_id"]: node["redacted"] for node in nodes}[ids.asset_id(door.tenant, name)])


def test_a_column_had_the_data_source_of_its_table_in_the_past_too(vault: Door) -> None:
    create(vault, "/policies", policy(EVERYONE, {"asset": "*"}, id="open"))
    create(vault, "/policies", policy({"user": "bob"}, {"data_source": "vault"}, "deny", id="no-vault"))
    eventually(lambda: decision(vault, "ann", "vault.keys.b", clock.now())["policy_id"] == "open")
    assert decision(vault, "bob", "vault.keys.b", clock.now())["policy_id"] == "no-vault"


DECOYS = [
    ("people", table("crm.people")),
    ("a column of the table", table("crm.people.mail", "column", parent="open")),
    ("a table in place of a column", table("crm.people.mail")),
    ("a column of the table as stored", table("crm.People.mail", "column", parent="open")),
]


@pytest.mark.parametrize(("what", "body"), DECOYS)
def test_an_asset_that_is_ingested_under_an_engines_spelling_does_not_lift_a_denial(
    door: Door, what: str, body: dict[str, Any]
) -> None:
    door.ingest("crm.People", tags=["PII"])
    door.ingest("open")
    create(door, "/policies", policy(EVERYONE, {"asset": "*"}))
    create(door, "/policies", policy(EVERYONE, {"tag": "PII"}, "deny", id="no-pii"))
    spellings = ("crm.people", "CRM.PEOPLE", "crm.people.mail", "crm.People.mail", "CRM.PEOPLE.MAIL")
    with door.limited(*WRITER) as writer:
        writer.http.post("/ingest-metadata", json=body, headers=WAIT)
        for name in spellings:
            assert check(door, "ann", name)["policy_id"] == "no-pii", (what, name)
    assert effect(door, "ann", "open") == "allow"


def test_many_spellings_of_a_name_do_not_displace_the_protected_one(door: Door) -> None:
    door.ingest("crm.PEOPLE", tags=["PII"])
    create(door, "/policies", policy(EVERYONE, {"asset": "*"}))
    create(door, "/policies", policy(EVERYONE, {"tag": "PII"}, "deny"))
    spellings = [f"crm.{a}{b}{c}{d}le" for a in "pP" for b in "eE" for c in "oO" for d in "pP"]
    bulk(door, *map(table, spellings))
    assert effect(door, "ann", "Crm.people") == "deny"


def test_a_column_with_a_tag_of_its_own_is_found_in_any_case(vault: Door) -> None:
    vault.ingest("people", tags=["PII"])
    connect(vault, ("people", "vault.keys.a"))
    propagate(vault)
    create(vault, "/policies", policy(EVERYONE, {"asset": "*"}))
    create(vault, "/policies", policy(EVERYONE, {"tag": "PII"}, "mask", mask="show-last-4"))
    eventually(lambda: effect(vault, "ann", "vault.keys.a") == "mask")
    eventually(lambda: effect(vault, "ann", "VAULT.KEYS.A") == "mask")
    assert effect(vault, "ann", "VAULT.KEYS.B") == "allow"


def test_where_several_assets_match_a_name_the_row_filters_of_all_apply(door: Door) -> None:
    door.ingest("shop.Orders", tags=["regional"])
    door.ingest("shop.ORDERS", tags=["PII"])
    create(door, "/policies", policy(EVERYONE, {"asset": "*"}))
    create(door, "/policies", policy(EVERYONE, {"tag": "regional"}, "row-filter", row_filter="region = 'EU'"))
    create(door, "/policies", policy(EVERYONE, {"tag": "PII"}, "mask", mask="show-first-4"))
    found = check(door, "ann", "shop.orders")
    assert (found["effect"], found["mask"], found["row_filter"]) == ("mask", "show-first-4", "(region = 'EU')")


def test_a_column_of_the_lake_that_is_moved_without_authority_keeps_the_tags_of_its_table(door: Door) -> None:
    door.ingest("crm.people", tags=["PII"])
    door.ingest("open")
    bulk(door, column("crm.people.mail"), column("crm.people.phone"), column("crm.people.name"))
    with door.limited("metadata:read", "metadata:write") as weak:
        body = table("crm.people.mail", "column", parent="open")
        weak.change("POST", "/ingest-metadata", body)
        bulk(weak, table("crm.people.phone", "column", parent="open"), table("crm.people.name", "column", parent=None))
    for name, parent in (("mail", "open"), ("phone", "open"), ("name", None)):
        moved = door.read(f"crm.people.{name}")
        assert (moved["attributes"]["parent"], moved["tags"]["effective"]) == (parent, ["PII"]), name
    with door.limited("metadata:read", "metadata:write", "policy:write") as strong:
        strong.change("POST", "/ingest-metadata", body)
    assert door.read("crm.people.mail")["tags"]["effective"] == []
