"""`GET /enforce/iceberg/{namespace}/{table}`: what a reader must do for a user, now and after a change."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from lily.store.postgres.access.administration import create_token, revoke_token
from tests.contract.access import create, policy
from tests.contract.door import WAIT, Door, codes
from tests.contract.flows import connect, propagate
from tests.extra_api import until

pytestmark = pytest.mark.campaign  # it waits for decisions of many tables

PEOPLE = "lake.crm.people"
SCHEMA = ["1: id: required long", "4: email: optional string", "5: country: optional string"]


class Reader:
    def __init__(self, door: Door) -> None:
        self.door = door
        self.key = create_token(door.stack.database, door.tenant, ["enforce:read"], user="catalogue")

    def load(
        self, table: str = "lake.crm/people", user: str = "ann", key: str | None = None, **more: Any
    ) -> httpx.Response:
        url = f"{self.door.stack.url}/enforce/iceberg/k/{key or self.key}/{table}"
        return httpx.get(url, params={"user": user, **more}, timeout=60)

    def restrictions(self, table: str = "lake.crm/people", user: str = "ann", **more: Any) -> Any:
        answer = self.load(table, user, **more)
        assert answer.status_code == 200, answer.text
        assert answer.json().keys() == {"read-restrictions"}
        return answer.json()["read-restrictions"]

    def refusal(self, *arguments: Any, **more: Any) -> tuple[int, set[str]]:
        answer = self.load(*arguments, **more)
        return answer.status_code, codes(answer)


@pytest.fixture
def reader(door: Door) -> Reader:
    """Ann reads everything in `lake`, and what is personal only masked."""
    for name, kind, parent in (
        ("lake", "database", ""),
        ("lake.crm", "schema", "lake"),
        (PEOPLE, "table", "lake.crm"),
    ):
        door.ingest(name, kind, **({"parent": parent} if parent else {}))
    create(door, "/policies", policy({"user": "ann"}, {"asset": "lake"}))
    create(door, "/policies", policy({"user": "*"}, {"tag": "PII"}, "mask", mask="show-last-4"))
    return Reader(door)


def masked(reader: Reader, **more: Any) -> dict[int, str]:
    listed = reader.restrictions(**more).get("required-column-projections", [])
    return {one["field-id"]: one["action"] for one in listed}


def add_column(door: Door, name: str, **attributes: Any) -> str:
    return door.ingest(f"{PEOPLE}.{name}", "column", parent=PEOPLE, **attributes)


def test_a_tag_that_arrives_by_lineage_masks_the_field_at_once(reader: Reader) -> None:
    door = reader.door
    door.ingest("crm.persons", "table")
    source = door.ingest("crm.persons.mail", "column", parent="crm.persons")
    email = add_column(door, "email", field_id=4, data_type="string")
    connect(door, (source, email))
    assert reader.restrictions() == {}
    door.change("POST", f"/metadata/{source}/tags", {"tag": "PII"})
    propagate(door)
    assert masked(reader) == {4: "show-last-4"}
    door.change("DELETE", f"/metadata/{source}/tags/PII")
    propagate(door)
    assert reader.restrictions() == {}


def test_a_restricted_column_that_only_lineage_knows_is_not_left_out(reader: Reader) -> None:
    """Its name is in no list, so a reader would show it. Who states the fields gets it masked."""
    door = reader.door
    door.ingest("crm.persons", "table")
    source = door.ingest("crm.persons.mail", "column", parent="crm.persons")
    door.change("POST", f"/metadata/{source}/tags", {"tag": "PII"})
    connect(door, (source, f"{PEOPLE}.email"))
    propagate(door)
    assert reader.refusal() == (409, {"COLUMNS_UNKNOWN"})
    assert masked(reader, field=SCHEMA) == {4: "show-last-4"}


def test_plain_columns_of_the_lake_are_decided_too(reader: Reader) -> None:
    """A policy may name a column that only the lake has."""
    body = [
        {
            "entity_type": "column",
            "attributes": {"name": name, "qualified_name": f"{PEOPLE}.{name}", "parent": PEOPLE, "field_id": number},
        }
        for name, number in (("salary", 8), ("id", 1))
    ]
    assert reader.door.http.post("/ingest-metadata/bulk", json=body, headers=WAIT).status_code == 200
    create(reader.door, "/policies", policy({"user": "ann"}, {"asset": f"{PEOPLE}.salary"}, "deny"))
    until(lambda: reader.load().status_code == 200, 60)
    assert masked(reader) == {8: "replace-with-null"}


def test_a_masked_column_without_a_field_id_is_an_error_until_it_is_stated(reader: Reader) -> None:
    add_column(reader.door, "email", tags=["PII"])
    assert reader.refusal() == (409, {"FIELD_ID_UNKNOWN"})
    assert masked(reader, field=SCHEMA) == {4: "show-last-4"}
    assert reader.door.http.put(
        f"/metadata/{PEOPLE}.email", json={"attributes": {"field_id": 6}}, headers=WAIT
    ).is_success
    assert masked(reader) == {6: "replace-with-null"}  # of a type that is not known


def test_a_policy_for_a_column_that_nobody_ingested_is_not_forgotten(reader: Reader) -> None:
    create(reader.door, "/policies", policy({"user": "ann"}, {"asset": f"{PEOPLE}.Salary"}, "deny"))
    assert reader.refusal() == (409, {"FIELD_ID_UNKNOWN"})
    assert masked(reader, field=[*SCHEMA, "9: salary: optional int"]) == {9: "replace-with-null"}


def test_a_masked_table_needs_its_schema(reader: Reader) -> None:
    reader.door.change("POST", f"/metadata/{PEOPLE}/tags", {"tag": "PII"})
    assert reader.refusal() == (409, {"COLUMNS_UNKNOWN"})
    assert masked(reader, field=SCHEMA) == {1: "mask-to-fixed-value", 4: "show-last-4", 5: "show-last-4"}


def test_who_may_not_read_a_table_gets_no_restrictions(reader: Reader) -> None:
    assert reader.refusal(user="eve") == (403, {"FORBIDDEN"})
    create(reader.door, "/policies", policy({"group": "BI"}, {"asset": PEOPLE}))
    assert reader.restrictions(user="eve", group=["x", "bi"]) == {}
    assert reader.refusal("lake.crm/nothing") == (404, {"NOT_FOUND"})


def test_an_unknown_table_follows_the_tenants_setting(reader: Reader) -> None:
    assert reader.door.http.put("/settings", json={"unknown_objects": "open"}).is_success
    assert reader.restrictions("elsewhere/thing", "eve") == {}
    create(reader.door, "/policies", policy({"user": "eve"}, {"asset": "elsewhere.thing"}, "deny"))
    assert reader.refusal("elsewhere/thing", "eve") == (404, {"NOT_FOUND"})


def test_row_filters_are_expressions_with_field_ids(reader: Reader) -> None:
    create(
        reader.door,
        "/policies",
        policy({"user": "ann"}, {"asset": PEOPLE}, "row-filter", row_filter="country <> 'DE'", name="rows"),
    )
    assert reader.refusal() == (409, {"FIELD_ID_UNKNOWN"})
    country = {"type": "reference", "id": 5}
    assert reader.restrictions(field=SCHEMA)["required-row-filter"] == {
        "type": "and",
        "left": {"type": "not-null", "child": country},
        "right": {"type": "not-eq", "left": country, "right": {"type": "literal", "value": "DE"}},
    }
    create(
        reader.door,
        "/policies",
        policy({"user": "ann"}, {"asset": PEOPLE}, "row-filter", row_filter="lower(country) = 'fr'", name="more"),
    )
    assert reader.refusal(field=SCHEMA) == (409, {"ROW_FILTER_NOT_EXPRESSIBLE"})


def test_namespaces_have_levels_and_mappings(reader: Reader) -> None:
    add_column(reader.door, "EMAIL", tags=["PII"], field_id=4, data_type="string")
    for table in ("lake%1Fcrm/people", "LAKE.CRM/PEOPLE", "lake.crm/people"):
        assert reader.restrictions(table)["required-column-projections"], table
    assert reader.refusal("prod.crm/people") == (404, {"NOT_FOUND"})
    mapping = {"name": "m", "data_source": "lake", "engine_name": "prod", "asset_name": "lake"}
    create(reader.door, "/engine-mappings", mapping)
    assert reader.restrictions("prod.crm/people")["required-column-projections"]


def test_a_token_in_the_header_is_answered_the_same(reader: Reader) -> None:
    with reader.door.limited("enforce:read") as caller:
        assert caller.http.get("/enforce/iceberg/lake.crm/people", params={"user": "ann"}).json() == {
            "read-restrictions": {}
        }


def test_a_namespace_that_looks_like_a_key_is_refused(reader: Reader) -> None:
    """The path would otherwise be that of another table, which may be unknown and so open."""
    assert reader.door.http.put("/settings", json={"unknown_objects": "open"}).is_success
    with reader.door.limited("enforce:read") as caller:
        for path in ("k/people", "k/people/x"):
            answer = caller.http.get(f"/enforce/iceberg/{path}", params={"user": "ann"})
            assert answer.status_code in {400, 401, 404}, answer.text
    reader.door.ingest("k.people", "table")
    assert reader.refusal("k/people", "eve")[0] == 403


def test_a_revoked_key_is_refused(reader: Reader) -> None:
    assert reader.restrictions() == {}
    (key_id,) = reader.door.token_ids("catalogue")
    assert revoke_token(reader.door.stack.database, key_id)
    until(lambda: reader.load().status_code == 401, 5)


def test_another_tenants_key_sees_nothing_of_this_one(
    reader: Reader, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    key = create_token(reader.door.stack.database, make_tenant()[0], ["enforce:read"])
    assert reader.load(key=key).status_code == 404


@pytest.mark.parametrize(
    "given",
    [{"user": ""}, {"field": "email"}, {"field": ["1: a: optional int", "1: b: optional int"]}, {"users": "x"}],
)
def test_what_is_no_request_is_refused(reader: Reader, given: dict[str, Any]) -> None:
    assert reader.load(**given).status_code == 400


def test_what_was_decided_is_logged(reader: Reader) -> None:
    assert reader.door.http.put("/settings", json={"decision_log": "all"}).is_success
    reader.load(user="eve")
    until(lambda: _logged(reader.door), 30)


def _logged(door: Door) -> bool:
    found = door.http.get("/policy/decisions", params={"principal": "eve"})
    assert found.status_code == 200, found.text
    return any(one["effect"] == "deny" and one["by"] for one in found.json()["items"])
