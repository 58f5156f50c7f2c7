"""Whoever may state assets may state types, and lifts no mask or denial with that: in no engine, open or closed."""

import pytest

from lily.model import clock
from lily.store.postgres.access.administration import create_token
from tests.contract.access import create, effect, policy
from tests.contract.door import WAIT, Door, table
from tests.contract.test_columns_and_policies import EVERYONE, WRITER, bulk
from tests.contract.test_iceberg import Reader
from tests.contract.test_lanes import column
from tests.contract.test_policy_past import decision, explained
from tests.contract.trino_engine import Engine

TABLE, SECRET = "shop.s.v", "shop.s.v.secret"
COLUMNS = [column(f"{TABLE}.email"), column(f"{TABLE}.id")]


@pytest.fixture
def shop(door: Door) -> Door:
    door.http.put("/settings", json={"unknown_objects": "open"})
    create(door, "/policies", policy(EVERYONE, {"asset": "*"}))
    create(door, "/policies", policy({"user": "ann"}, {"tag": "PII"}, "mask", mask="show-last-4"))
    create(door, "/policies", policy({"user": "dan"}, {"tag": "PII"}, "deny"))
    door.ingest(TABLE, tags=["PII"])
    return door


def decided(shop: Door, *references: str) -> set[tuple[str, str]]:
    return {(effect(shop, "ann", name), effect(shop, "dan", name)) for name in references}


@pytest.mark.parametrize("kind", ["dashboard", "column", "file"])
@pytest.mark.parametrize("known_by", ["nothing", "edge", "single", "bulk"])
def test_a_column_keeps_the_mask_and_the_denial_of_its_table(shop: Door, kind: str, known_by: str) -> None:
    if known_by == "edge":
        edge = {"from": SECRET, "to": "report", "relationship_type": "derived-from"}
        shop.change("POST", "/lineage", {"edges": [edge]})
    if known_by == "single":
        shop.ingest(SECRET, "column")
    if known_by == "bulk":
        bulk(shop, column(SECRET))
    assert decided(shop, SECRET) == {("mask", "deny")}
    with shop.limited(*WRITER) as weak:
        weak.http.post("/ingest-metadata", json=table(TABLE, kind), headers=WAIT)
        assert decided(shop, SECRET, SECRET.upper()) == {("mask", "deny")}
        engine = Engine(shop, create_token(shop.stack.database, shop.tenant, ["enforce:read"], user="trino"))
        assert engine.masked(["secret"], TABLE) == ["secret"]
        assert Reader(shop).load("shop.s/v").status_code == 409  # it may have columns that are not listed
        assert Reader(shop).restrictions("shop.s/v", field="7: secret: optional string") != {}
        shop.http.put("/settings", json={"unknown_objects": "closed"})
        assert decided(shop, SECRET) <= {("mask", "deny"), ("deny", "deny")}
        weak.http.post("/ingest-metadata", json=table(SECRET, "dashboard"), headers=WAIT)
    assert decided(shop, SECRET, SECRET.upper()) == {("mask", "deny")}


def test_a_column_by_its_id_keeps_them_too(shop: Door) -> None:
    edge = {"from": SECRET, "to": "report", "relationship_type": "derived-from"}
    shop.change("POST", "/lineage", {"edges": [edge]})
    with shop.limited(*WRITER) as weak:
        weak.http.post("/ingest-metadata", json=table(SECRET, "dashboard"), headers=WAIT)
    assert decided(shop, SECRET, shop.read(SECRET)["metadata_id"]) == {("mask", "deny")}


@pytest.mark.parametrize("kind", ["table", "dashboard"])
def test_the_past_is_decided_as_the_present(shop: Door, kind: str) -> None:
    shop.ingest(TABLE, kind)
    shop.ingest(f"{TABLE}.known", "dashboard")
    for name in (SECRET, f"{TABLE}.known"):
        found = [decision(shop, who, name, clock.now()) for who in ("ann", "dan")]
        assert [one["effect"] for one in found] == ["mask", "deny"], name
        assert [one["tag"] for one in found[0]["tags"]] == ["PII"], name
        assert explained(shop, "ann", name, clock.now())["effect"] == "mask"
